"""The slot under the cursor: what it holds, and why."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain.advice.document import further_step
from dispatch_cli.answers.explain.advice.report import Change
from dispatch_cli.answers.explain.higher_order import document as explain_higher_order
from dispatch_cli.explore.answers.slot import (
    SlotBlocks,
    Target,
    ToAdvice,
    ToPlace,
    ToRegistration,
    ToSlot,
    ToSwitchedOff,
    advice_steps,
    lacks_advice,
    slot_answer,
)
from dispatch_cli.explore.answers.table import tried_slots, with_key
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.switch import filling, switch_at, switched_off
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
        same = bool(self._shown) and self._shown[0] == spot
        self.workers.cancel_node(self)
        answer = slot_answer(self.session, spot, advice=False)
        self._shown = shown
        if answer is None:
            self.view.show([Paragraph(self._nothing(spot))])
        else:
            working = lacks_advice(answer)
            self._show(spot, answer, working, SlotBlocks.is_off if same else SlotBlocks.is_first)
            if working:
                self.run_worker(self._advise(spot, answer))
        self.answered(answer)

    def _show(
        self, spot: Spot, answer: PaneAnswer, working: bool, at: Callable[[SlotBlocks, Target], bool] | None = None
    ) -> None:
        """Show an answer. at: says of a target if the cursor begins there; None where it stays."""
        tried = {} if spot.operator is None else tried_slots(self.session, spot.operator)
        off = switched_off(self.session, spot) if spot.operator is not None else ()
        blocks = SlotBlocks(answer.report, tried.get(spot.key or ""), off, working)
        self.view.show(blocks, blocks.leads_to, at is None, None if at is None else partial(at, blocks))

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
        self._show(spot, whole, working=False)
        self.answered(whole)

    # the cursor

    def on_lines_view_moved(self, event: Blocks.Moved) -> None:
        event.stop()

    def on_lines_view_opened(self, event: Blocks.Opened) -> None:
        """Go where the part under the cursor leads."""
        event.stop()
        target: Target | None = event.target
        if isinstance(target, ToSlot):
            self._go(target.key)
        elif isinstance(target, ToAdvice):
            self._take(target.change)
        else:
            self._edit(target)

    def _go(self, key: str) -> None:
        self.open(self._spot._replace(key=key))
        self.post_message(self.Went(self._spot))

    def _take(self, change: Change | None) -> None:
        """Try out an advised change."""
        if change is None:
            self.notify("There is no change of registrations here that could be tried.")
        else:
            further = further_step(change)
            self.try_advice(change.edits, "" if further is None else f" Its second step is yours: {further}.")

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
        registration = target.concerned if isinstance(target, ToRegistration) else filling(self.session, self._spot)
        if registration is not None:
            self.switch_off(self._spot, registration)
        elif self._spot.key in self.session.state.dispatcher.universe.slot:
            self.notify(f"No registration fills {self._spot.key}: there is none to switch off.")
        elif self._spot.operator is not None:
            self.try_out(self._switch_at)

    def _switch_at(self) -> None:
        """Switch off, or on again, what is at a key without a slot."""
        if not switch_at(self.session, self._spot):
            self.notify(f"Nothing is registered at {self._spot.key}: there is nothing to switch off.")

    def action_edit(self) -> None:
        """See the place under the cursor in the editor; of the rule that fired, that of what fills the slot."""
        target = self.view.target
        registration = filling(self.session, self._spot) if isinstance(target, ToSlot) and target.by_rule else None
        self._edit(target if registration is None else ToRegistration(registration))

    def _edit(self, target: Target | None) -> None:
        span: Span | None = None
        if isinstance(target, ToPlace):
            span = target.span
        elif isinstance(target, ToRegistration):
            span = target.concerned.span
            if span is None:
                self.say_no_file(target.concerned.origin.state)
                return
        if span is not None:
            self.post_message(self.OpenPlace(span))
        else:
            self.say_no_place()
