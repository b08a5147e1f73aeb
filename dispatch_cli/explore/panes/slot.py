"""The slot under the cursor: what it holds, and why."""

from __future__ import annotations

from asyncio import sleep
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain.advice.document import further_step
from dispatch_cli.answers.explain.advice.report import Change
from dispatch_cli.answers.explain.higher_order import document as explain_higher_order
from dispatch_cli.answers.explain.rule_steps import Concerned
from dispatch_cli.explore.answers.slot import (
    Target,
    ToSlot,
    ToSwitchedOff,
    advice_steps,
    is_by_rule,
    lacks_advice,
    leads_to,
    slot_answer,
    slot_blocks,
)
from dispatch_cli.explore.answers.table import with_key
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.switch import filling, switched_off
from dispatch_cli.explore.views.blocks import Blocks
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Paragraph

QUIET = 0.12
"""Seconds that the cursor rests on a slot before advice is looked for."""
_SWITCHES = (
    "Switch the registration under the cursor off, or on again; on any other line, the one that fills the slot; a "
    "backend fallback, for all operators"
)
STEP = 0.015
"""Seconds after which the search for advice lets keys pass."""


_LINE_EACH = (explain.RULES, explain.ANSWERS, explain_higher_order.RULES_OF_PYTHON, explain_higher_order.STEPS)
"""Tables whose rows take a line each, so that all of them are seen."""


class SlotPane(Pane):
    """The slot under the cursor."""

    TITLE = "Slot"
    MARKS = (
        (">", "the rule that fills the slot"),
        ("(6)", "the rule that uses the registration, by its number"),
        ("Advice", "enter tries its first change"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "next_slot(-1)", "Previous", tooltip="Go to the slot before this one"),
        Binding("right,l", "next_slot(1)", "Next", tooltip="Go to the slot after this one"),
        Binding("e", "edit", "Edit", tooltip="Open the place of what is under the cursor in the editor"),
        Binding("x", "switch", "Off/on", tooltip=_SWITCHES),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(session, id=id)
        self._spot = Spot()
        self._shown: tuple[Any, ...] = ()
        self._is_same = False

    def compose(self) -> ComposeResult:
        yield Blocks(id="slot-blocks", lists=_LINE_EACH)

    @property
    def view(self) -> Blocks:
        """The widget with the answer."""
        return self.query_one(Blocks)

    def open(self, spot: Spot) -> None:
        """Explain the slot at a spot; where it names no key, the last one."""
        spot = with_key(self.session, spot, self._spot.key)
        self._spot = spot
        shown = (spot, self.session.state)
        if shown == self._shown:
            return
        self._is_same = bool(self._shown) and self._shown[0] == spot
        self.workers.cancel_node(self)
        answer = slot_answer(self.session, spot, advice=False)
        self._shown = shown
        if answer is None:
            self.view.show([Paragraph(self._nothing(spot))])
        else:
            working = lacks_advice(answer)
            self._show(spot, answer, working, keep=False)
            if working:
                self.run_worker(self._advise(spot, answer))
        self.answered(answer)

    def _show(self, spot: Spot, answer: PaneAnswer, working: bool, keep: bool) -> None:
        """Show an answer. keep: the cursor stays; else it begins at the rule that fired, or what is switched off."""
        off = switched_off(self.session, spot) if spot.operator is not None else ()
        at = None if keep or (self._is_same and off) else is_by_rule
        self.view.show(slot_blocks(answer.report, off, working), partial(leads_to, answer.report), keep, at)

    def _nothing(self, spot: Spot) -> str:
        if spot.operator is None and spot.higher_order is None:
            return "Choose an operator."
        name = spot.operator or spot.higher_order
        if spot.operator is not None and spot.operator not in self.session.state.dispatcher:
            return f"There is no operator {name} now."
        return f"{name} has nothing at {spot.key}."

    async def _advise(self, spot: Spot, answer: PaneAnswer) -> None:
        """Look for advice when the cursor rests, in steps between which keys pass."""
        await sleep(QUIET)
        steps, until = advice_steps(self.session, spot, answer), perf_counter() + STEP
        try:
            while True:
                next(steps)
                if perf_counter() > until:
                    await sleep(0)
                    until = perf_counter() + STEP
        except StopIteration as end:
            whole: PaneAnswer = end.value
        if self.query(Blocks):  # else the application is ending
            self._show(spot, whole, working=False, keep=True)
            self.answered(whole)

    # the cursor

    def on_lines_view_moved(self, event: Blocks.Moved) -> None:
        event.stop()

    def on_lines_view_opened(self, event: Blocks.Opened) -> None:
        """Go where the part under the cursor leads."""
        event.stop()
        target: Target | None = event.target
        if isinstance(target, ToSlot) and target.key != self._spot.key:
            self._go(target.key)
        elif isinstance(target, Change):
            further = further_step(target)
            self.try_advice(target.edits, "" if further is None else f" Its second step is yours: {further}.")
        else:
            self.action_edit()

    def _go(self, key: str) -> None:
        self.open(self._spot._replace(key=key))
        self.post_message(self.Went(self._spot))

    def action_next_slot(self, by: int) -> None:
        """The next slot of the table."""
        slots = self.session.state.dispatcher.universe.slots
        here = slots.index(self._spot.key) if self._spot.key in slots else -1
        self._go(slots[(here + by) % len(slots)])

    def action_switch(self) -> None:
        """Switch the registration under the cursor off, or on again; without one, the one that fills the slot."""
        target = self.view.target
        if isinstance(target, ToSwitchedOff):
            self.try_out(lambda: self.session.whatif.take_back(target.number))
            return
        registration = target if isinstance(target, Concerned) else filling(self.session, self._spot)
        if registration is not None:
            self.switch_off(self._spot, registration)
        else:
            self.notify(f"No registration fills {self._spot.key}: 4 lists all that can be switched off.")

    def action_edit(self) -> None:
        """See the place under the cursor in the editor; of the rule that fired, that of what fills the slot."""
        target: Target | None = self.view.target
        if isinstance(target, ToSlot) and target.by_rule:
            target = filling(self.session, self._spot)
        span = target.span if isinstance(target, Concerned) else target
        if isinstance(span, Span):
            self.post_message(self.OpenPlace(span))
        else:
            self.say_no_place()
