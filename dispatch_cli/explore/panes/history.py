"""An operator over the embedded versions, or those of the list as a picture."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.history import document as history_documents
from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.explore.answers.differences import MOST, every_version, histories_answer, history_answer
from dispatch_cli.explore.background import Background
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.blocks import Blocks, open_cell
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Block, Paragraph


def _is_of(name: str, cell: Any) -> bool:
    return bool(cell.target[0] == name)


class HistoryPane(Pane):
    """The history of an operator, or of all that are listed."""

    TITLE: ClassVar[str] = "History"
    DEFAULT_CSS = """
    HistoryPane > #history-picture, HistoryPane.-all > #history-blocks { display: none; }
    HistoryPane.-all > #history-picture { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "picture", "All listed", tooltip="Show the operators of the list over the versions, or only one"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._opening = Background(self)
        self._versions: Versions | None = None
        self._spot = Spot()
        self._drawn: Any = None
        self.view, self.picture = Blocks(id="history-blocks"), Blocks(id="history-picture")

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.picture

    def open(self, spot: Spot) -> None:
        """Show the operator at a spot. Opening the versions takes a moment, once."""
        self._spot = spot
        if self._versions is not None:
            self._show(self._versions)
        elif not self._opening.busy:
            self._say("Opening the embedded versions…")
            self._opening.start(every_version, self._show, self._not_opened, self._say)

    def _show(self, versions: Versions) -> None:
        self._versions, spot = versions, self._spot
        if self.has_class("-all"):
            self._draw(versions)
            return
        answer = history_answer(spot, versions)
        if answer is None:
            self._say(f"No embedded version has {spot.operator or spot.higher_order or 'an operator'}.")
        else:
            report: Any = answer.report
            self.view.show(lambda width: history_documents.document(report, width))
        self.answered(answer)

    def _draw(self, versions: Versions) -> None:
        """The operators that the list shows now, with the cursor at the one of the place."""
        shown = self.app.query_one(OperatorList)
        name = self._spot.higher_order or str(self._spot.operator)
        listed = [shown.catalogue.entries[number] for number in shown.found[:MOST]]
        if self._drawn == (shown.query_text, listed):
            self.picture.point(partial(_is_of, name))
            return
        self._drawn = shown.query_text, listed
        answer = histories_answer(shown.query_text.strip(), listed, versions)
        blocks: list[Block] = [Paragraph("No embedded version has one of these operators.")]
        if answer is not None:
            blocks = [*history_documents.picture(answer.report)]
        if len(shown.found) > MOST:
            blocks = [Paragraph(f"The first {MOST} of the list; a search there chooses others."), *blocks]
        self.picture.show(blocks, open_cell, at=partial(_is_of, name))
        self.answered(answer if answer is not None and answer.command else None)

    @property
    def waits_for(self) -> str:
        """Description of the missing part of a command line; empty if it is whole."""
        return "a glob in the search, such as aten::add*, has a command line" if self.has_class("-all") else ""

    def action_picture(self) -> None:
        """All that are listed, or one."""
        self.toggle_class("-all")
        self._drawn = None
        (self.picture if self.has_class("-all") else self.view).focus()
        self.open(self._spot)

    def on_lines_view_opened(self, event: Blocks.Opened) -> None:
        """Go from the picture to the operator."""
        event.stop()
        name = event.target.target[0]
        spot = Spot(OperatorName.parse(name)) if "::" in name else Spot(higher_order=name)
        self._spot = spot
        self.action_picture()
        self.post_message(self.Went(spot))

    def _say(self, text: str) -> None:
        self.view.show([Paragraph(text)])

    def _not_opened(self, error: Exception) -> None:
        self._say(f"Opening the embedded versions failed: {type(error).__name__}: {str(error)[:500]}")
