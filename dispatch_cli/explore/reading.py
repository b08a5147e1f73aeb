"""Files that have changed since they were read: they are read again by a key, or after the editor."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import AppFocus

from dispatch_cli.explore.session import CannotRead, Session

Stamp = tuple[int, int] | None
"""When a file was last written, and its size; None where it is not there."""


class ReadingAgain(App[None]):
    """An application that reads the files of its session again."""

    session: Session
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "read_again", "Read the files again", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._stamps: dict[str, Stamp] = {}

    def on_mount(self) -> None:
        self.call_after_refresh(self.note_files)

    def note_files(self, files: Iterable[str] = ()) -> None:
        """Remember how files are now: those that were read, those that were noted before, and others."""
        names = (*self.session.original.declarations.files, *self._stamps, *files)
        self._stamps = {name: stamp_of(name) for name in dict.fromkeys(names)}

    def changed_files(self) -> list[str]:
        """Files that are not as they were noted."""
        return [name for name, stamp in self._stamps.items() if stamp_of(name) != stamp]

    def read_if_changed(self) -> None:
        """Read the files again if one of them is another one."""
        if self.changed_files():
            self.action_read_again()

    def action_read_again(self) -> None:
        """Read the files again. Changes on trial stay where they can still be made."""
        universe = self.session.original.dispatcher.universe
        self.clear_notifications()
        self.note_files()
        try:
            left_out = self.session.read_again()
        except CannotRead as error:
            if error.problems:
                from dispatch_cli.explore.problems_screen import ProblemsScreen

                self.push_screen(ProblemsScreen(error, self.action_read_again))
            else:
                self.notify(str(error), severity="warning")
            return
        self.note_files()
        self.files_read(other_keys=self.session.original.dispatcher.universe != universe)
        self.notify("The files were read again.")
        if left_out:
            from dispatch_cli.explore.change_words import change_text

            texts = "\n".join(map(change_text, left_out))
            self.notify(
                f"These changes on trial cannot be made any more:\n{texts}", title="Left out", severity="warning"
            )

    def files_read(self, other_keys: bool) -> Any:
        """Everything is shown anew. other_keys: the state has another universe."""
        raise NotImplementedError

    def on_app_focus(self, _: AppFocus) -> None:
        """The user comes back from another window, maybe that of an editor."""
        changed = self.changed_files()
        if changed:
            self.note_files()
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            self.notify(f"{changed[0]}{more} changed: f5 reads the files again.", severity="warning")


def stamp_of(file: str) -> Stamp:
    """How a file is now."""
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
