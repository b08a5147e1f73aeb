"""Calls: tensors and contexts are typed, and what PyTorch runs for them changes at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from dispatch_cli.explore.answers.call import (
    Draft,
    call_answer,
    call_blocks,
    first_draft,
    key_blocks,
    keys_answer,
    nothing_asked,
    refusal,
    target_of,
)
from dispatch_cli.explore.panes.call_line import CallLine, call_of, completions, line_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.render.printed import safe

_LAST_WORD = re.compile(r"[^\s'\"=|,]+$")
_WORDS = 40
"""Words that are shown of those with which a call can go on."""


class CallPane(Pane):
    """A call that is typed, and its answer: the end, the steps, the keys, the thread and the mask."""

    TITLE = "Calls"
    DEFAULT_CSS = """
    CallPane > #call-words { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add('--tensor')", "Add tensor", tooltip="Add a tensor to the call"),
        Binding("c", "add('--context')", "Add context", tooltip="Add a context to the call, such as inference_mode"),
        Binding("t", "type", "Type", tooltip="Type the call, or paste a command line of resolve"),
        Binding("s", "switch", "Key set/call", tooltip="Show the key set of the call, or the call"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(session, id=id)
        self.draft = Draft()
        self.problems: tuple[Problem, ...] = ()
        self.shows_keys = False
        self._drafts: dict[Spot, Draft] = {}
        self._answered = Draft()  # the call that has the answer
        self._shown: tuple[Any, ...] = ()  # the question whose answer is on the screen
        self._state = session.state
        self.line = CallLine(session)
        self.following = Static(id="call-words", markup=False)

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.following
        yield self.view

    def open(self, spot: Spot) -> None:
        """Show the call of an operator that was last described, or a first one."""
        spot = Spot(spot.operator, None, spot.higher_order)
        asked = self.session.asked.pop(spot, None)
        if self.session.state is not self._state or spot != self.spot:  # the answer was to another question
            self._state, self.answer = self.session.state, None
        if asked is not None or spot != self.spot or not self._drafts:
            last, self.spot = self.draft if self._drafts else None, spot
            self._take(asked or self._drafts.get(spot) or first_draft(self.session.state, spot, last))
        else:
            self._update()

    def _take(self, draft: Draft) -> None:
        """Show a call."""
        with self.prevent(Input.Changed):
            self.line.value = line_of(draft)
        self._change(draft)

    def _change(self, draft: Draft) -> None:
        self.draft = self._drafts[self.spot] = draft
        self._update()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A text of the line: its call, or why there is none; the call before that stays."""
        event.stop()
        text, universe = event.value, self.session.state.dispatcher.universe
        words = dict.fromkeys(word for word, _ in islice(completions(universe, text), _WORDS))
        self.following.update(Content(safe(" ".join(words))))
        begun = _LAST_WORD.search(text)
        if begun is not None and begun[0] not in words and any(word.startswith(begun[0]) for word in words):
            return  # the answer stays until the word is whole
        try:
            typed = call_of(text)
        except InputError as error:
            self._refuse(error.problems)
            return
        if typed.operator is None:
            self._change(typed.draft)
            return
        self.went(self._spot_of(typed.operator))
        self.open(self._spot_of(typed.operator))
        self._take(typed.draft)

    def _spot_of(self, operator: str) -> Spot:
        """The operator of a command line; where the state has none of that name, the one that is shown."""
        state, name = self.session.state, OperatorName.parse_printed(operator)
        if name in state.dispatcher:
            return Spot(name)
        higher_order = state.higher_order_operator(operator.removeprefix(f"{HIGHER_ORDER_NAMESPACE}::"))
        return self.spot if higher_order is None else Spot(higher_order=higher_order.name)

    def go_to(self, target: Any) -> None:
        """Go to a slot."""
        self.went(self.spot._replace(key=target.key), "slot")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The line has the call that is answered, in full."""
        event.stop()
        self.following.update(Content(""))
        if self.problems:
            self.notify(f"{self.problems[0].message}. The call is as it was before.", severity="warning")
        self._take(self._answered if self.problems and self.answer is not None else self.draft)
        self.view.focus()

    def action_add(self, part: str) -> None:
        """Describe another tensor or context."""
        self.line.begin(part)

    def action_type(self) -> None:
        """Type the call."""
        self.line.focus()
        self.line.action_end()

    # the answer

    @property
    def _asks_keys(self) -> bool:
        return self.shows_keys or self.spot == Spot()

    def _update(self) -> None:
        """Simulate the call, and show it; what is refused is said, and the last answer stays."""
        try:
            if self._asks_keys:
                answer = keys_answer(self.session, self.draft)
            else:
                answer = call_answer(self.session, self.spot, self.draft)
        except InputError as error:
            self._refuse(error.problems)
            return
        self.problems, self.answer, self._answered = (), answer, self.draft
        self._show()

    def _refuse(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        self._show()

    def _show(self) -> None:
        asked = self.spot, self._answered, self.problems, self._asks_keys
        self.view.show(self._blocks(), target_of, keep=asked == self._shown)
        self._shown = asked
        self.answered(self.answer)

    def _blocks(self) -> Iterator[Any]:
        answer = self.answer
        if self.problems:
            yield from refusal(self.problems, None if answer is None else self._answered)
        if answer is not None and self._asks_keys:
            yield from key_blocks(self.session.state, answer.report)
        elif answer is not None:
            yield from call_blocks(answer.report)
        elif not self.problems:
            yield from nothing_asked()

    def action_switch(self) -> None:
        """Show the key set of the call, or the call."""
        self.shows_keys, self.answer = not self.shows_keys, None
        self._update()
