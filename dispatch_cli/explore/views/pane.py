"""Base of all views: the document that a command prints, whose parts are opened, and whose rows are filtered."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from dispatch_cli.answers.shared.selection import has_words
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.blocks import Blocks
from dispatch_cli.explore.views.lines_view import LinesView
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Paragraph, TableBlock, runs_of

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.rule_steps import Concerned
    from dispatch_cli.model.changes.change import Edit


class Pane(Vertical):
    """A view of a session. It is made of report data, and says which command line prints the same.

    TITLE: its name in tabs and in the command palette. MARKS: the signs that it shows, and what they mean.
    LISTS: the tables whose rows are cut, as of `Blocks`. BELOW: what is under the cursor is described below.
    FILTER: what rows can be filtered by; empty where they cannot be.
    """

    TITLE: ClassVar[str]
    MARKS: ClassVar[Sequence[tuple[str, str]]] = ()
    LISTS: ClassVar[Sequence[object] | None] = ()
    BELOW: ClassVar[bool] = False
    FILTER: ClassVar[str] = ""
    DEFAULT_CSS = """
    Pane > .below { height: 3; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="Open what is under the cursor, as a click on it does", show=False),
        Binding("f", "filter", "Filter", tooltip="Show only the rows that have some words"),
        Binding("e", "edit", "Edit", tooltip="Open the place of what is under the cursor in the editor"),
    ]

    class Went(Message):
        """The user goes to an operator or a slot.

        view: the one that says so. pane: the id of the one that shows it; None to stay here.
        """

        def __init__(self, view: Pane, spot: Spot, pane: str | None = None) -> None:
            super().__init__()
            self.view = view
            self.spot = spot
            self.pane = pane

    class Answered(Message):
        """The view shows another answer than before, or none."""

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
        self.spot = Spot()
        self.view, self.below = Blocks(lists=self.LISTS), Blocks(classes="below")
        self.words = ""
        self.work = Background(self)
        self._doing = ""
        self._keeps = False
        self._asked: tuple[Any, ...] = ()
        self._offers_filter = False

    def compose(self) -> ComposeResult:
        yield self.view
        if self.BELOW:
            yield self.below

    # what a view defines

    def depends(self) -> tuple[Any, ...]:
        """The parts of the spot, and the choices of the user, on which the answer depends beside the state."""
        return ()

    def begin(self) -> None:
        """Find the answer, and `take` it."""
        raise NotImplementedError

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        """The document of the answer."""
        raise NotImplementedError

    def nothing(self) -> str:
        """Reason why there is no answer."""
        return ""

    def shows(self, spot: Spot) -> bool:  # noqa: ARG002
        """False where the view has nothing of an operator, whatever the answer is."""
        return True

    def opens(self, item: Any) -> Any:
        """Target of a part: a place, a spot, or something of the view's own; None for nothing."""
        return getattr(item, "link", None)

    def is_here(self, target: Any) -> bool:  # noqa: ARG002
        """True for the target where the cursor begins, and which it follows."""
        return False

    def place_of(self, target: Any) -> Any:
        """The place of what is under the cursor; nothing where it is in no file."""
        return target if isinstance(target, Span) else getattr(target, "span", None)

    def described(self, target: Any) -> Iterable[Block]:  # noqa: ARG002
        """Description of what is under the cursor."""
        return ()

    # the answer

    def open(self, spot: Spot) -> None:
        """Show the answer for a spot; where it is the same as before, the cursor follows the spot."""
        self.spot = spot
        asked = (self.session.state, *self.depends())
        if asked == self._asked:
            if not self.work.busy:
                self.view.point(self.is_here)
                self.describe()
            return
        self._keeps = bool(self._asked) and self._asked[1:] == asked[1:]
        self._asked = asked
        self.begin()

    def again(self) -> None:
        """Look for the answer to other choices of the user."""
        self.open(self.spot)

    def search(self, find: Callable[[Step], PaneAnswer | None], doing: str) -> None:
        """Find the answer in a thread; an old answer to the same question stays till then. doing: that in words."""
        self._doing = doing
        has_old = self._keeps and self.answer is not None
        self.answered(None)
        if has_old:
            self.work.start(find, self.take, self.failed)
        else:
            self.say(doing)
            self.work.start(find, self.take, self.failed, self.say)

    def take(self, answer: PaneAnswer | None) -> None:
        """Show an answer."""
        self.answer = answer
        self.show()
        self.answered(answer)

    def show(self) -> None:
        """Show the document of the answer."""
        blocks: Iterable[Block] = [Paragraph(self.nothing())]
        if self.answer is not None:
            blocks = map(self._filtered, self.document(self.answer))
        self.view.show(blocks, self.opens, self._keeps, self.is_here)
        self._keeps = True
        self.describe()

    def say(self, text: str) -> None:
        """Show a sentence in the place of the document."""
        self.view.show([Paragraph(text)])
        self.below.show(())

    def failed(self, error: Exception) -> None:
        """Show an error in the place of the document; what failed is tried again when it is asked for next."""
        self._asked, frame = (), traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('dispatch_cli')[2]}:{frame.lineno}"
        why = f"{type(error).__name__}: {str(error)[:500]} ({where})"
        self.say(f"{self.TITLE} cannot be shown. {why}. This is a bug in dispatch-cli; the other views go on.")
        self.answered(None)

    @property
    def waits_for(self) -> str:
        """The work that the command line waits for."""
        return self._doing if self.work.busy else ""

    def describe(self) -> None:
        """Describe what is under the cursor."""
        if self.BELOW:
            blocks = tuple(self.described(self.view.target))
            self.below.display = bool(blocks)
            self.below.show(blocks, self.opens)
            self.below.can_focus = self.below.choices() > 0

    # the filter

    def action_filter(self) -> None:
        """Ask for words."""
        from dispatch_cli.explore.views.screens import Ask

        self.app.push_screen(Ask(f"Rows with which words ({self.FILTER})? Nothing for all", self.words), self.filter)

    def filter(self, words: str | None) -> None:
        """Show only rows with some words; None for no change."""
        if words is not None:
            self.words = words
            self.show()
            self.answered(self.answer)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's. Without rows, there is no filter, but for the one that left none."""
        if action == "filter":
            return bool(self.FILTER) and (self.view.choices() > 0 or self.is_filtered)
        return super().check_action(action, parameters)

    @property
    def is_filtered(self) -> bool:
        """True if rows are left out by a filter."""
        return bool(self.words)

    def _filtered(self, block: Block) -> Block:
        words = self.filters()
        if not words or not isinstance(block, TableBlock) or not any(map(self.opens, block.rows[:1])):
            return block
        return replace(block, rows=[row for row in block.rows if has_words(" ".join(_texts(block, row)), words)])

    def filters(self) -> str:
        """The words that rows are chosen by, which the command does not choose."""
        return self.words

    def chosen(self) -> Iterator[str]:
        """The filter of the answer, in words; nothing for all."""
        if words := self.filters():
            yield f"with “{words}”"

    @property
    def remark(self) -> str:
        """The choice, which the command does not make."""
        chosen = ", ".join(self.chosen())
        return f"(prints all; here only those {chosen})" if chosen and self.answer is not None else ""

    # the cursor

    def on_blocks_laid_out(self, event: Blocks.LaidOut) -> None:
        """A document that was not on the screen is laid out when it is there; with other rows, other keys work."""
        event.stop()
        if event.view is self.view:
            self.describe()
            offers = bool(self.check_action("filter", ()))
            if offers is not self._offers_filter:
                self._offers_filter = offers
                self.refresh_bindings()

    def on_lines_view_moved(self, event: LinesView.Moved) -> None:
        """The description follows the cursor."""
        event.stop()
        if event.view is self.view:
            self.moved(event.target)
            self.describe()

    def moved(self, target: Any) -> None:
        """Follow the cursor, which was moved to a part."""

    def on_lines_view_opened(self, event: LinesView.Opened) -> None:
        """Open a part."""
        event.stop()
        self.go_to(event.target)

    def go_to(self, target: Any) -> None:
        """Go to a spot; a place is for the editor."""
        if isinstance(target, Spot):
            self.went(target, "table" if target.key is None else "slot")
        elif isinstance(self.place_of(target), Span):
            self.notify(f"e opens {self.place_of(target)} in the editor.")

    def action_open(self) -> None:
        """Open what is under the cursor."""
        self._focused.action_open()

    def action_edit(self) -> None:
        """Open the place of what is under the cursor in the editor."""
        place = self.place_of(self._focused.target)
        if isinstance(place, Span):
            self.post_message(self.OpenPlace(place))
        else:
            self.notify(
                "There is no place in a file here: embedded states, and changes that are not written, are in none."
            )

    @property
    def _focused(self) -> Blocks:
        return self.below if self.below.has_focus else self.view

    # what the application does

    def went(self, spot: Spot, pane: str | None = None) -> None:
        """Go to a place. pane: the id of the view that shows it; None to stay here."""
        self.post_message(self.Went(self, spot, pane))

    def answered(self, answer: PaneAnswer | None) -> None:
        """Note what is shown, so that the application shows its command line."""
        self.answer = answer
        # textual passes no message on to a parent that counts as its sender
        self.post_message(self.Answered().set_sender(self))

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


def _texts(table: TableBlock[Any], row: Any) -> Iterator[str]:
    """The texts of the cells of a row."""
    for column in table.columns:
        yield "".join(run.text for run in runs_of(column.cell(row, False)))
