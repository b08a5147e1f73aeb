"""Actions of keys on changes that are tried out, whichever view is in front."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from dispatch_cli.engine.state import State
from dispatch_cli.explore.session import Session

TO_SAVE = "(w writes this file)"
"""Remark of a command line that names the changes while they are not saved."""

_OWN = ("undo_change", "redo_change", "write_changes")


class Trying(App[None]):
    """An application in which changes are undone, redone and written, and not left behind unnoticed."""

    session: Session
    _asked_to_leave: State | None = None
    """The state in which the user was told that changes are not written."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo_change", "Undo", tooltip="Undo the last change on trial"),
        Binding("ctrl+r", "redo_change", "Redo", tooltip="Redo the change that was undone"),
        Binding("w", "write_changes", "Write", tooltip="Write the changes on trial as a declaration file"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are shown that have something to do."""
        if action not in _OWN:
            return super().check_action(action, parameters)
        if not self.session.has_tried:
            return False
        tried = self.session.whatif
        return {_OWN[0]: tried.can_undo, _OWN[1]: tried.can_redo, _OWN[2]: bool(tried.changes)}[action]

    def state_changed(self) -> Any:
        """Make all that is shown anew."""
        raise NotImplementedError

    def action_undo_change(self) -> None:
        """Go back by one change."""
        if self.session.whatif.undo():
            self.state_changed()

    def action_redo_change(self) -> None:
        """Take back an undo."""
        if self.session.whatif.redo():
            self.state_changed()

    def action_write_changes(self) -> None:
        """Ask for a file, and write the changes to it."""
        from dispatch_cli.explore.views.screens import Ask

        asked = Ask("Write the changes to which file? enter writes, escape leaves", self.session.whatif.path)
        self.push_screen(asked, self._write)

    def _write(self, path: str | None) -> None:
        from dispatch_cli.whatif.written import CannotSave

        if not path:
            return
        try:
            self.session.whatif.write(path)
        except CannotSave as error:
            self.notify(str(error), title="Not written", severity="error")
            return
        self.notify(f"Written: {path}.")
        self.state_changed()  # the places of the changes can be in another file

    async def action_quit(self) -> None:
        """Leave; where changes are not written, only when asked again."""
        if self.session.unsaved and self._asked_to_leave is not self.session.state:
            self._asked_to_leave = self.session.state
            self.notify("The changes are not written: w writes them, q again leaves.", severity="warning")
            return
        await super().action_quit()
