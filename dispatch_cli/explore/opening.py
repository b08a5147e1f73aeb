"""Opening a place of a file in the editor."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from textual.app import SuspendNotSupported

from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.reading import ReadingAgain


class Opening(ReadingAgain):
    """An application that opens the editor, and reads again what was changed there."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()
        """The editors of which it was said that they are not told the line."""

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        """Open a place in the editor."""
        from dispatch_cli.explore.editor import CannotOpen, editor_call, run_editor

        message.stop()
        self.note_files((message.span.file,))
        try:
            call = editor_call(message.span, os.environ)
            code = self._lend_screen(partial(run_editor, call)) if call.in_terminal else run_editor(call)
        except (CannotOpen, SuspendNotSupported) as why:
            self.notify(str(why), title="Not opened", severity="warning")
            return
        self.read_if_changed()
        if not call.takes_place and call.arguments[0] not in self._told:
            self._told.add(call.arguments[0])
            unknown = f"dispatch-cli does not know how to tell {call.arguments[0]} which line to go to."
            self.notify(f"{unknown} The place is {message.span}.")
        if code:
            self.notify(f"The editor ended with code {code}.", severity="warning")

    def _lend_screen(self, run: Callable[[], int]) -> int:
        """Run what takes the whole terminal. textual takes the screen back only where nothing is raised meanwhile."""
        error: Exception | None = None
        code = 0
        with self.suspend():
            try:
                code = run()
            except Exception as why:
                error = why
        if error is not None:
            raise error
        return code
