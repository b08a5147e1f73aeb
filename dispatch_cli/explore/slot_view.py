"""View of a slot's explanation. Rules take a line each, so that all of them are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain.higher_order import document as explain_higher_order
from dispatch_cli.explore.blocks import Blocks
from dispatch_cli.explore.slot_blocks import Target, ToRegistration, ToSlot, ToSwitchedOff
from dispatch_cli.render.document import Block, TableBlock
from dispatch_cli.render.text import parts_of
from dispatch_cli.render.text_lines import TextLine
from dispatch_cli.render.text_list import list_layout

_LINE_EACH = (explain.RULES, explain.ANSWERS, explain_higher_order.RULES_OF_PYTHON, explain_higher_order.STEPS)


class ExplainedSlot(Blocks):
    """Explanation of a slot.

    The cursor begins at the registrations if these are in sight, else at the rule that fired. When the
    explanation of the same slot changes, it stays on its part, and begins anew if that is gone.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._is_new = True
        self._began = 0
        self._was: Target | None = None
        self._begins_again = False

    def show(
        self,
        blocks: Iterable[Block] | Callable[[int], Iterable[Block]],
        opens: Callable[[Any], Any] | None = None,
        keep: bool = False,
    ) -> None:
        self._was = self.target if keep else None
        self._is_new = not keep
        super().show(blocks, opens, keep)
        if self._begins_again:
            self._begins_again = False
            self.scroll_to(0, 0, animate=False, immediate=True)

    def lay_out(self, width: int) -> None:
        super().lay_out(width)
        was, self._was = self._was, None
        if was is not None:
            again = [n for n in range(self.choices()) if _is_same(was, self.choice(n).target)]
            self._cursor = min(again, key=lambda n: abs(n - self._cursor), default=0)
            self._begins_again = not again
        elif self._cursor == self._began:  # it was not moved; in another width other parts are in sight
            self._is_new = True
        if self._is_new or self._begins_again:
            self._is_new = False
            self._cursor = self._began = self._first()

    def _first(self) -> int:
        """Number of the part at which the cursor begins."""
        height = self.scrollable_content_region.height
        ways = [
            (n, self.choice(n).target.by_rule)
            for n in range(self.choices())
            if isinstance(self.choice(n).target, ToSlot | ToRegistration) and self.choice(n).end <= height
        ]
        there = [n for n, by_rule in ways if not by_rule and isinstance(self.choice(n).target, ToRegistration)]
        return next(iter([*there, *(n for n, by_rule in ways if by_rule)]), 0)

    def parts(self, block: Block, width: int) -> list[tuple[Any, list[TextLine]]]:
        """The lines of a block, with what they show."""
        if isinstance(block, TableBlock) and any(block.columns is columns for columns in _LINE_EACH):
            listed = list_layout(block, width)
            return [(None, [listed.header()]), *((row, [listed.line(row)]) for row in block.rows)]
        return [(part.item, part.lines) for part in parts_of(block, width)]


def _is_same(was: Target, now: Target) -> bool:
    """True if two parts are of one thing; what is switched off, or on again, stays the same."""
    if isinstance(was, ToRegistration) and isinstance(now, ToRegistration):
        before, after = was.concerned, now.concerned
        return (*_at(was), before.kernel, before.span) == (*_at(now), after.kernel, after.span)
    if isinstance(was, ToRegistration | ToSwitchedOff) and isinstance(now, ToRegistration | ToSwitchedOff):
        return _at(was) == _at(now)
    return was == now or (isinstance(was, ToSlot) and isinstance(now, ToSlot) and was.key == now.key)


def _at(target: ToRegistration | ToSwitchedOff) -> tuple[str, bool]:
    """The key of a registration, and whether it is a backend fallback."""
    if isinstance(target, ToSwitchedOff):
        return target.which.key, target.which.operator is None
    return target.concerned.key, target.concerned.backend_fallback
