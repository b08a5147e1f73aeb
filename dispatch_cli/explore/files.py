"""Files of the session: they are opened in the editor, and read again where they have changed."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import AppFocus

from dispatch_cli.explore.session import CannotRead, Session
from dispatch_cli.explore.views.pane import Pane

Stamp = tuple[int, int] | None
"""Time when a file was last written, and its size; None if it is not there."""


class FilesApp(App[None]):
    """An application that opens files of its session in the editor, and reads them again."""

    session: Session
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "read_again", "Read the files again", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._stamps: dict[str, Stamp] = {}
        self._changed: tuple[str, ...] = ()

    def on_mount(self) -> None:
        self.call_after_refresh(self.note_files)

    def files_read(self, other_keys: bool) -> Any:
        """Everything is shown anew. other_keys: the state has another universe."""
        raise NotImplementedError

    def show_command(self) -> Any:
        """Show the command line, and notes on it."""
        raise NotImplementedError

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        """Open a place in the editor; then files are read again that were changed there."""
        from dispatch_cli.explore.editor import CannotOpen, editor_call, run_editor

        message.stop()
        try:
            call = editor_call(message.span, os.environ)
            with self.suspend() if call.in_terminal else nullcontext():
                failure = run_editor(call)
        except (CannotOpen, SuspendNotSupported) as why:
            self.notify(str(why), title="Not opened", severity="warning")
            return
        if failure:
            self.notify(failure, severity="warning")
        if self.changed_files():
            self.action_read_again()

    # files that have changed since they were read

    def note_files(self) -> None:
        """Remember how the files are now."""
        self._stamps = {name: stamp_of(name) for name in self.session.files_read}

    def changed_files(self) -> list[str]:
        """Files that are not as they were noted."""
        return [name for name, stamp in self._stamps.items() if stamp_of(name) != stamp]

    @property
    def changed_on_disk(self) -> str:
        """Remark that names files that are not as they were read; empty if all are."""
        if not self._changed:
            return ""
        first, *others = self._changed
        return f"({first}{f' and {len(others)} more' if others else ''} changed on disk: f5 reads the files again)"

    def on_app_focus(self, _: AppFocus) -> None:
        """The user comes back from another window: say which files have changed, until they are read."""
        changed = tuple(self.changed_files())
        if changed != self._changed:
            self._changed = changed
            self.notify(self.changed_on_disk.strip("()"), severity="warning")
            self.show_command()

    def action_read_again(self) -> None:
        """Read the files again. Changes on trial stay where they can still be made."""
        universe = self.session.original.dispatcher.universe
        self.clear_notifications()
        try:
            left_out = self.session.read_again()
        except CannotRead as error:
            self._changed = tuple(self.changed_files())
            self.show_command()
            if error.problems:
                from dispatch_cli.explore.views.screens import problems_screen

                self.push_screen(problems_screen(error.problems))
            else:
                self.notify(str(error), severity="warning")
            return
        self._changed = ()
        self.note_files()
        self.files_read(other_keys=self.session.original.dispatcher.universe != universe)
        self.notify("The files were read again.")
        if left_out:
            from dispatch_cli.explore.switch import change_text

            texts = "\n".join(map(change_text, left_out))
            self.notify(
                f"These changes on trial cannot be made any more:\n{texts}", title="Left out", severity="warning"
            )


def stamp_of(file: str) -> Stamp:
    """Current stamp of a file."""
    try:
        stat = Path(file).stat()
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size
