"""Files that have changed since they were read: they are read again by a key, or after the editor."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import AppFocus, Event, Key

from dispatch_cli.explore.session import CannotRead, Session

Stamp = tuple[int, int] | None
"""Time when a file was last written, and its size; None if it is not there."""

_LOOKS_EVERY = 1.5
"""Seconds that pass at least before it is looked again whether files have changed."""


class ReadingAgain(App[None]):
    """An application that reads the files of its session again."""

    session: Session
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "read_again", "Read the files again", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._stamps: dict[str, Stamp] = {}
        self._changed: tuple[str, ...] = ()
        self._next_look = 0.0

    def on_mount(self) -> None:
        self.call_after_refresh(self.note_files)

    async def on_event(self, event: Event) -> None:
        """textual's. With a key, but seldom, it is looked whether files have changed."""
        await super().on_event(event)
        if isinstance(event, Key) and monotonic() >= self._next_look:
            self._next_look = monotonic() + _LOOKS_EVERY
            self.call_later(self.look_at_files)

    def note_files(self, files: Iterable[str] = ()) -> None:
        """Remember how files are now: those that were read, those that were noted before, and others."""
        names = (*self.session.files_read, *self._stamps, *files)
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
        self._find_changed()
        try:
            left_out = self.session.read_again()
        except CannotRead as error:
            self.show_command()
            if error.problems:
                from dispatch_cli.explore.problems_screen import ProblemsScreen

                self.push_screen(ProblemsScreen(error, self.action_read_again))
            else:
                self.notify(str(error), severity="warning")
            return
        self._changed = ()
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

    def show_command(self) -> Any:
        """Show the command line, and notes on it."""
        raise NotImplementedError

    @property
    def changed_on_disk(self) -> str:
        """Remark that names files that are not as they were read; empty if all are."""
        if not self._changed:
            return ""
        first, *others = self._changed
        return f"({first}{f' and {len(others)} more' if others else ''} changed on disk: f5 reads the files again)"

    def look_at_files(self) -> None:
        """Say which files have changed since they were read, once, and beside the command line until they are read."""
        if self._find_changed():
            self.notify(self.changed_on_disk.strip("()"), severity="warning")
            self.show_command()

    def _find_changed(self) -> bool:
        """Add the files that have changed to those that are named; True if there are any."""
        if changed := self.changed_files():
            self._changed = (*dict.fromkeys((*self._changed, *changed)),)
            self.note_files()
        return bool(changed)

    def on_app_focus(self, _: AppFocus) -> None:
        """The user comes back from another window, maybe that of an editor."""
        self.look_at_files()


def stamp_of(file: str) -> Stamp:
    """Current stamp of a file."""
    try:
        stat = Path(file).stat()
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size
