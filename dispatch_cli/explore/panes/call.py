"""Calls: tensors and contexts are chosen, and what PyTorch runs for them changes at once."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize

from dispatch_cli.explore.answers.call import (
    CallAnswered,
    Draft,
    call_answer,
    call_before,
    first_draft,
    keys_answer,
    taken,
)
from dispatch_cli.explore.bars import copy_command
from dispatch_cli.explore.blocks import Blocks
from dispatch_cli.explore.call_blocks import (
    CHANGED,
    CallTarget,
    call_blocks,
    key_blocks,
    nothing_asked,
    refusal,
    target_of,
)
from dispatch_cli.explore.call_choices import CallPart, devices_of
from dispatch_cli.explore.call_chooser import GIVEN, REFUSED, Chooser
from dispatch_cli.explore.call_composer import CallComposer
from dispatch_cli.explore.call_parts import PartLine, part_lines, with_part
from dispatch_cli.explore.lines_view import LinesView
from dispatch_cli.explore.pane import LOW, Pane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.problem import InputError, Problem

WIDE = 104
"""Columns of the view from which a call and its answer stand beside each other."""


class CallPane(Pane):
    """A call that is put together, and its answer: the end, the steps, the keys, the thread and the mask."""

    TITLE = "Calls"
    MARKS = (
        (GIVEN, "of a word to choose: it is given, and enter takes it away"),
        (REFUSED, "of a word to choose: it does not go with those that are given"),
        ("no mark", "of a word to choose: enter adds it; a device or layout takes the place of the other"),
        (CHANGED, "of a step: another one than without the changes on trial, or without the files"),
    )
    DEFAULT_CSS = """
    CallPane { layout: vertical; }
    CallPane > #call-answer { height: 1fr; }
    CallPane.-low > CallComposer.-choosing { height: 70%; max-height: 70%; border-bottom: none; }
    CallPane.-low Chooser > Label { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    CallPane.-beside { layout: horizontal; }
    CallPane.-beside > CallComposer, CallPane.-beside > CallComposer.-choosing {
        width: 42; height: 1fr; max-height: 100%; border-bottom: none; border-right: vkey $panel;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add('tensor')", "Add tensor", tooltip="Add a tensor to the call"),
        Binding("c", "add('context')", "Add context", tooltip="Add a context to the call, such as inference_mode"),
        Binding("d,delete", "remove", "Remove", tooltip="Remove the part of the call under the cursor"),
        Binding("s", "switch", "Key set/call", tooltip="Show the key set of the call, or the call"),
        Binding("Y", "copy_other", "Copy the command line of the other: of the key set, or of the call", show=False),
        Binding("r", "again", "Start again with the operator's first call", show=False),
        Binding("f", "full", "Show error texts whole, or short", show=False),
        Binding("e", "edit", "Edit", tooltip="Open the place of the kernel in the editor"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(session, id=id)
        self.spot = Spot()
        self.draft = Draft()
        self.problems: tuple[Problem, ...] = ()
        self.shows_keys = False
        self.is_full = False
        self._drafts: dict[Spot, Draft] = {}
        self._valid: tuple[Spot, bool, Draft, PaneAnswer] | None = None
        self._state = session.state
        self._before: CallAnswered | tuple[Problem, ...] | None = None
        self.request = CallComposer(session.state.dispatcher.universe, self._change_part)
        self.parts, self.chooser = self.request.parts, self.request.chooser
        self.shown = Blocks(id="call-answer")

    def compose(self) -> ComposeResult:
        yield self.request
        yield self.shown

    def on_resize(self, event: Resize) -> None:
        """Stand beside each other where there is room; in few lines, what is being chosen comes first."""
        self.set_class(event.size.width >= WIDE, "-beside")
        self.set_class(event.size.height < LOW, "-low")

    def open(self, spot: Spot) -> None:
        """Show the call of an operator that was last described, or a first one."""
        spot = Spot(spot.operator, None, spot.higher_order)
        if self.session.state is not self._state:  # an answer of another state says nothing of this one
            self._state, self._valid = self.session.state, None
        asked = self.session.asked.pop(spot, None)
        if asked is not None or spot != self.spot or not self._drafts:
            if self.chooser.is_open:
                self._stop()
            last, self.spot = self.draft if self._drafts else None, spot
            self.draft = asked or self._drafts.get(spot) or first_draft(self.session.state, spot, last)
            self._drafts[spot] = self.draft
        self._show_parts()
        self._update()

    # the parts of the call

    def on_lines_view_opened(self, event: LinesView.Opened) -> None:
        """Choose the text of a part; go to a slot, or to the operator that a kernel calls."""
        event.stop()
        target = event.target
        if isinstance(target, PartLine):
            self._start(target)
        elif isinstance(target, CallTarget) and target.operator is not None:
            self.post_message(self.Went(Spot(target.operator)))
        elif isinstance(target, CallTarget):
            self.post_message(self.Went(self.spot._replace(key=target.key), "slot"))

    def _change_part(self, line: PartLine, text: str) -> str:
        """Another text of a part, while it is being chosen; the call before that is kept until then."""
        self._change(with_part(self._drafts[self.spot], line, text))
        return "\n".join(one.message for one in self.problems)

    def on_chooser_done(self, event: Chooser.Done) -> None:
        event.stop()
        if self.problems:
            self._change(self._drafts[self.spot])
            self.notify("The text could not be read; the call is as it was before.", severity="warning")
        self._stop()

    def action_add(self, kind: str) -> None:
        """Describe another tensor or context."""
        part = CallPart.TENSOR if kind == "tensor" else CallPart.CONTEXT
        line = next((one for one in self._lines() if one.part is part and one.is_new), None)
        if line is not None:
            self._start(line)
        else:
            self.notify(f"{self.spot.operator} takes no more tensors.")

    def action_remove(self) -> None:
        """Take away the part under the cursor."""
        line = self.parts.target
        if isinstance(line, PartLine) and line.text:
            self._change(with_part(self.draft, line, ""))
            self._keep()
        else:
            self.notify("There is nothing to remove here.")

    def action_again(self) -> None:
        """Begin with the operator's first call."""
        self._change(first_draft(self.session.state, self.spot))
        self._keep()

    def _start(self, line: PartLine) -> None:
        self.request.choose(line, devices_of(self.session.state.dispatcher.universe, self.draft.tensors))

    def _stop(self) -> None:
        chosen = self.chooser.line
        self.request.stop()
        self._keep()
        here = (number for number, one in enumerate(self._lines()) if chosen is not None and one[:2] == chosen[:2])
        self.parts.move_to(next(here, self.parts.cursor))
        self.parts.focus()

    def _change(self, draft: Draft) -> None:
        self.draft = draft
        self._update()

    def _keep(self) -> None:
        """Remember the call for its operator."""
        self._drafts[self.spot] = self.draft
        self._show_parts()

    def _lines(self) -> tuple[PartLine, ...]:
        return part_lines(self.draft, taken(self.session.state, self.spot, self.draft))

    def _show_parts(self) -> None:
        self.request.show(self._lines())

    # the answer

    @property
    def _asks_keys(self) -> bool:
        return self.shows_keys or self.spot == Spot()

    def _update(self) -> None:
        """Simulate the call, and show it; what is refused is said, and the last answer stays."""
        try:
            answer = self._answer(self._asks_keys)
        except InputError as error:
            self.problems = error.problems
            if self._valid is not None and self._valid[:2] != (self.spot, self._asks_keys):
                self._valid = None
        else:
            self.problems = ()
            self._valid = None if answer is None else (self.spot, self._asks_keys, self.draft, answer)
            self._before = None if self._asks_keys else call_before(self.session, self.spot, self.draft)
        self.shown.show(self._blocks, target_of, keep=True)
        self.answered(None if self._valid is None else self._valid[3])

    def _answer(self, keys: bool) -> PaneAnswer | None:
        return keys_answer(self.session, self.draft) if keys else call_answer(self.session, self.spot, self.draft)

    def _blocks(self, width: int) -> Any:
        valid, state = self._valid, self.session.state
        if self.problems:
            yield from refusal(self.problems, None if valid is None else valid[2])
        if valid is not None and valid[1]:
            yield from key_blocks(state, valid[3].report, width)
        elif valid is not None:
            yield from call_blocks(state, valid[3].report, self._before, self.is_full)
        elif not self.problems:
            yield from nothing_asked()

    def action_edit(self) -> None:
        """Open the place of the kernel under the cursor in the editor."""
        target = self.shown.target
        if isinstance(target, CallTarget) and target.span is not None:
            self.post_message(self.OpenPlace(target.span))
        else:
            self.say_no_place()

    def action_switch(self) -> None:
        """Show the key set of the call, or the call."""
        self.shows_keys = not self.shows_keys
        self._update()

    def action_full(self) -> None:
        """Show long error texts whole, or short again."""
        self.is_full = not self.is_full
        self.shown.show(self._blocks, target_of, keep=True)

    def action_copy_other(self) -> None:
        """Copy the command of what is not shown: the call, or its key set."""
        try:
            other = self._answer(not self._asks_keys) if self.spot != Spot() else None
        except InputError:
            other = None
        copy_command(self.app, other)
