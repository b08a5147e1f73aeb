"""The slot under the cursor: what it holds, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain import higher_order_document as explain_higher_order
from dispatch_cli.answers.explain.advice_document import further_step
from dispatch_cli.answers.explain.advice_report import Change
from dispatch_cli.answers.explain.rule_steps import Concerned
from dispatch_cli.explore.answers.slot import (
    ToSlot,
    ToSwitchedOff,
    is_by_rule,
    lacks_advice,
    leads_to,
    slot_answer,
    slot_blocks,
    with_advice,
)
from dispatch_cli.explore.answers.table import with_key
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.session import PaneAnswer, Spot
from dispatch_cli.explore.switch import filling, switched_off
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.document import Block

QUIET = 0.12
"""Seconds that the cursor rests on a slot before advice is looked for."""
_SWITCHES = (
    "Switch the registration under the cursor off, or on again; on any other line, the one that fills the slot; a "
    "backend fallback, for all operators"
)


class SlotPane(Pane):
    """The slot under the cursor."""

    TITLE = "Slot"
    # their rows take a line each, so that all of them are seen
    LISTS = (explain.RULES, explain.ANSWERS, explain_higher_order.RULES_OF_PYTHON)
    MARKS = (
        (">", "the rule that fills the slot"),
        ("(6)", "the rule that uses the registration, by its number"),
        ("Advice", "enter tries its first change"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "next_slot(-1)", "Previous", tooltip="Go to the slot before this one"),
        Binding("right,l", "next_slot(1)", "Next", tooltip="Go to the slot after this one"),
        Binding("x", "switch", "Off/on", tooltip=_SWITCHES),
    ]
    _advising = False
    _resting: Timer | None = None
    _at_rule = True

    def depends(self) -> tuple[Any, ...]:
        return (self.spot,)

    def open(self, spot: Spot) -> None:
        """Explain the slot at a spot; where it names no key, the last one."""
        super().open(with_key(self.session, spot, self.spot.key))

    def begin(self) -> None:
        self.work.stop()
        answer = slot_answer(self.session, self.spot, advice=False)
        self._advising = answer is not None and lacks_advice(answer)
        self._at_rule = not (self._keeps and switched_off(self.session, self.spot))
        self._keeps = False
        self.take(answer)
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(QUIET, self._advise)

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        return slot_blocks(answer.report, switched_off(self.session, self.spot), self._advising)

    def nothing(self) -> str:
        if self.spot.operator is None and self.spot.higher_order is None:
            return "Choose an operator."
        name = self.spot.operator or self.spot.higher_order
        if self.spot.operator is not None and self.spot.operator not in self.session.state.dispatcher:
            return f"There is no operator {name} now."
        return f"{name} has nothing at {self.spot.key}."

    def _advise(self) -> None:
        """Look for advice, where the cursor rests."""
        state, spot, answer = self.session.state, self.spot, self.answer
        if self._advising and answer is not None:
            self.work.start(lambda _: with_advice(snapshot(state), spot, answer), self._take_whole, self.failed)

    def _take_whole(self, answer: PaneAnswer) -> None:
        self._advising = False
        self._at_rule = self._at_rule and self.view.target is None  # it is not laid out yet
        self.take(answer)

    # the cursor

    def opens(self, item: Any) -> Any:
        return None if self.answer is None else leads_to(self.answer.report, item)

    def is_here(self, target: Any) -> bool:
        """The cursor begins at the rule that fired."""
        return self._at_rule and is_by_rule(target)

    def go_to(self, target: Any) -> None:
        """Go where the part under the cursor leads."""
        if isinstance(target, ToSlot) and target.key != self.spot.key:
            self._go(target.key)
        elif isinstance(target, Change):
            further = further_step(target)
            self.try_advice(target.edits, "" if further is None else f" Its second step is yours: {further}.")
        else:
            super().go_to(target)

    def _go(self, key: str) -> None:
        self.open(self.spot._replace(key=key))
        self.went(self.spot)

    def action_next_slot(self, by: int) -> None:
        """The next slot of the table."""
        slots = self.session.state.dispatcher.universe.slots
        here = slots.index(self.spot.key) if self.spot.key in slots else -1
        self._go(slots[(here + by) % len(slots)])

    def action_switch(self) -> None:
        """Switch the registration under the cursor off, or on again; without one, the one that fills the slot."""
        target = self.view.target
        if isinstance(target, ToSwitchedOff):
            self.try_out(lambda: self.session.whatif.take_back(target.number))
            return
        registration = target if isinstance(target, Concerned) else filling(self.session, self.spot)
        if registration is not None:
            self.switch_off(self.spot, registration)
        else:
            self.notify(f"No registration fills {self.spot.key}: 4 lists all that can be switched off.")

    def place_of(self, target: Any) -> Any:
        """The place of a part; of the rule that fired, that of what fills the slot."""
        if isinstance(target, ToSlot) and target.by_rule:
            target = filling(self.session, self.spot)
        return super().place_of(target)
