"""Base of all panes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.message import Message

from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.rule_steps import Concerned
    from dispatch_cli.model.changes.edit import Edit


SOON = 0.04
"""Seconds for which a cursor rests until views follow it."""
SWITCHES_OFF = "Switch the registration that fills the slot off; a backend fallback, for all operators"
"""Description of the key for that, for help."""


class Pane(Vertical):
    """A view of a session. It is made of report data, and says which command line prints the same.

    TITLE: its name in tabs and in the command palette. MARKS: the signs that it shows, and what they mean.
    """

    TITLE: ClassVar[str]
    MARKS: ClassVar[Sequence[tuple[str, str]]] = ()

    class Went(Message):
        """The user goes to an operator or a slot.

        pane: the id of the one that shows it; None to stay here. view: the one that says so.
        """

        def __init__(self, spot: Spot, pane: str | None = None) -> None:
            super().__init__()
            self.spot = spot
            self.pane = pane
            self.view: Pane | None = None  # set when it is posted

    class Answered(Message):
        """The pane shows another answer than before; None if it has none."""

        def __init__(self, pane: Pane, answer: PaneAnswer | None) -> None:
            super().__init__()
            self.pane = pane
            self.answer = answer

    class Edited(Message):
        """The session's state was changed on trial, or such a change was undone."""

    class OpenPlace(Message):
        """The user wants to see a place in the editor."""

        def __init__(self, span: Span) -> None:
            super().__init__()
            self.span = span

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(id=id)
        self.session = session
        self.answer: PaneAnswer | None = None

    def open(self, spot: Spot) -> None:
        """Show what there is at a place. Called when the pane comes to the front, and as long as it is there, whenever
        the place or the state changes; never while it is hidden.
        """
        raise NotImplementedError

    @property
    def remark(self) -> str:
        """Difference between the output of the command line and the view, in words; empty if there is none."""
        return ""

    @property
    def waits_for(self) -> str:
        """Description of the work that a command line waits for; empty if there is none."""
        return ""

    def post_message(self, message: Message) -> bool:
        """textual's. It does not pass a message on to a parent that counts as its sender: these come from the pane."""
        if isinstance(message, (Pane.Went, Pane.Answered, Pane.Edited, Pane.OpenPlace)):
            message.set_sender(self)
        if isinstance(message, Pane.Went):
            message.view = self
        return super().post_message(message)

    def try_out(self, change: Callable[[], object]) -> bool:
        """Change the session's state on trial, or show PyTorch's text where it refuses that; whether it was changed."""
        try:
            change()
        except Refused as error:
            self.notify(str(error), title="PyTorch refuses this", severity="warning")
            return False
        self.post_message(self.Edited())
        return True

    def switch_off(self, spot: Spot, concerned: Concerned) -> None:
        """Leave a registration out on trial, and say so where it concerns all operators."""
        from dispatch_cli.explore import switch

        if self.try_out(lambda: switch.switch_off(self.session, spot, concerned)) and concerned.backend_fallback:
            slots = "4 shows the slots that it filled. u switches it on again."
            self.notify(f"The backend fallback at {concerned.key} is off for all operators; {slots}")

    def try_advice(self, edits: Iterable[Edit], more: str = "") -> None:
        """Make advised changes on trial. more: to be said then."""
        from dispatch_cli.explore import switch

        if self.try_out(lambda: switch.take_advice(self.session, edits)):
            self.notify(f"The change is on trial: 4 shows what it leads to, u takes it back.{more}")

    def say_no_place(self) -> None:
        """Say that what the cursor is on is in no file."""
        self.notify("There is no place in a file here: embedded states, and changes that are not written, are in none.")

    def answered(self, answer: PaneAnswer | None) -> None:
        """Note what is shown, and tell the application, which shows the command line."""
        self.answer = answer
        self.post_message(self.Answered(self, answer))
