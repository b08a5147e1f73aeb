"""An operator over the embedded versions."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from dispatch_cli.answers.history import document as history_documents
from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.explore.answers.differences import every_version, history_answer
from dispatch_cli.explore.background import Background
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.blocks import Blocks
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.document import Paragraph


class HistoryPane(Pane):
    """The history of an operator."""

    TITLE: ClassVar[str] = "History"

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._opening = Background(self)
        self._versions: Versions | None = None
        self._spot = Spot()
        self.view = Blocks(id="history-blocks")

    def compose(self) -> ComposeResult:
        yield self.view

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
        answer = history_answer(spot, versions)
        if answer is None:
            has_none = f"No embedded version has {spot.operator or 'an operator'}."
            self._say(has_none if spot.higher_order is None else "There is no history of higher-order operators.")
        else:
            self.view.show(history_documents.document(answer.report))
        self.answered(answer)

    def _say(self, text: str) -> None:
        self.view.show([Paragraph(text)])

    def _not_opened(self, error: Exception) -> None:
        self._say(f"Opening the embedded versions failed: {type(error).__name__}: {str(error)[:500]}")
