"""What is said of a slot, in a view. Rules take a line each, so that all of them are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dispatch_cli.explore.blocks import Blocks
from dispatch_cli.explore.slot_blocks import ToRegistration, ToSlot
from dispatch_cli.explore.table_layout import flow, laid_out_rows
from dispatch_cli.render import explain, explain_higher_order
from dispatch_cli.render.document import Block, Paragraph, ParagraphKind, TableBlock, Tone
from dispatch_cli.render.text_lines import HEADS, TextLine
from dispatch_cli.render.text_parts import parts_of

_LINE_EACH = (explain.RULES, explain.ANSWERS, explain_higher_order.RULES_OF_PYTHON, explain_higher_order.STEPS)


class ExplainedSlot(Blocks):
    """What is said of a slot.

    The cursor begins at the registrations if these are in sight, else at the rule that fired.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._is_new = True

    def show(
        self,
        blocks: Iterable[Block] | Callable[[int], Iterable[Block]],
        opens: Callable[[Any], Any] | None = None,
        keep: bool = False,
    ) -> None:
        self._is_new = not keep
        super().show(blocks, opens, keep)

    def lay_out(self, width: int) -> None:
        super().lay_out(width)
        if self._is_new:
            self._is_new = False
            height = self.scrollable_content_region.height
            ways = [
                (n, self.choice(n).target.by_rule)
                for n in range(self.choices())
                if isinstance(self.choice(n).target, ToSlot | ToRegistration) and self.choice(n).end <= height
            ]
            there = [n for n, by_rule in ways if not by_rule and isinstance(self.choice(n).target, ToRegistration)]
            self._cursor = next(iter([*there, *(n for n, by_rule in ways if by_rule)]), self._cursor)

    def parts(self, block: Block, width: int) -> list[tuple[Any, list[TextLine]]]:
        """The lines of a block, with what they show."""
        if isinstance(block, TableBlock) and any(block.columns is columns for columns in _LINE_EACH):
            return laid_out_rows(block, width)
        if isinstance(block, Paragraph) and not block.indent and block.kind is not ParagraphKind.CODE:
            return [(block, flow(block.inline, width, Tone.HEAD if block.kind in HEADS else Tone.PLAIN))]
        return [(part.item, part.lines) for part in parts_of(block, width)]
