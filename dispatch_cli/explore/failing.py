"""Errors that were not expected: they are shown in the view where they happened, and the program goes on."""

from __future__ import annotations

from textual.app import App
from textual.widget import Widget
from textual.worker import WorkerFailed

from dispatch_cli.explore.stage import PaneStage, error_line

_MOST_FAILURES = 50
"""Errors after which the program ends: it would not get further."""


class Failing(App[None]):
    """An application that goes on after errors."""

    stage: PaneStage

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[BaseException] = []

    def failed(self, error: BaseException, where: object = None) -> None:
        """An error that is shown, in the view where it happened if it happened in one; the program goes on."""
        self.failures.append(error)
        if len(self.failures) > _MOST_FAILURES:
            super()._handle_exception(error if isinstance(error, Exception) else Exception(str(error)))
            return
        if isinstance(error, WorkerFailed):
            error = error.error
        widget = where if isinstance(where, Widget) else None
        if widget is None or not self.stage.is_attached or not self.stage.fail(widget, error):
            self.notify(error_line(error), title="error", severity="error")

    def _handle_exception(self, error: Exception) -> None:
        """textual's: what was not contained where it happened. It would end the program."""
        if not self.is_running or not self.screen_stack:
            super()._handle_exception(error)
        else:
            self.failed(error, _widget_of(error, self.stage))


def _widget_of(error: BaseException, stage: PaneStage) -> Widget | None:
    """The innermost widget of a view in whose code an error happened."""
    innermost, step = None, error.__traceback__
    while step is not None:
        widget = step.tb_frame.f_locals.get("self")
        if isinstance(widget, Widget) and widget.is_attached and stage.id_of(widget) is not None:
            innermost = widget
        step = step.tb_next
    if innermost is None and isinstance(error, WorkerFailed):
        return _widget_of(error.error, stage)
    return innermost
