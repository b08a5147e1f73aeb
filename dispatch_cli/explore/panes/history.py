"""An operator over the embedded versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dispatch_cli.answers.history import document as history_documents
from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.explore.answers.differences import every_version, history_answer
from dispatch_cli.explore.background import Step
from dispatch_cli.explore.session import PaneAnswer
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.document import Block


class HistoryPane(Pane):
    """The history of an operator."""

    TITLE = "History"
    _versions: Versions | None = None

    def depends(self) -> tuple[Any, ...]:
        return self.spot.operator, self.spot.higher_order

    def begin(self) -> None:
        """Opening the versions takes a moment, once."""
        spot = self.spot
        if self._versions is not None:
            self.take(history_answer(spot, self._versions))
            return

        def find(step: Step) -> PaneAnswer | None:
            self._versions = every_version(step)
            return history_answer(spot, self._versions)

        self.search(find, "Opening the embedded versions…")

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        return history_documents.document(answer.report)

    def nothing(self) -> str:
        if self.spot.higher_order is not None:
            return "There is no history of higher-order operators."
        return f"No embedded version has {self.spot.operator or 'an operator'}."
