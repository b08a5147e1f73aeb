"""Changes that are tried out on a state, one after the other, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dispatch_cli.engine.history import all_declarations, rerun
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model import read_files
from dispatch_cli.model.changes.change import (
    Addition,
    Change,
)
from dispatch_cli.model.changes.registration_names import NamedRegistration, RegistrationIndex
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.findings import FindingsEffect, Touched, findings_effect
from dispatch_cli.whatif.tried import TriedChanges, exact, without_registration
from dispatch_cli.whatif.written import ChangesFile, text_of


class WhatIf:
    """A state, and changes that are tried out on it.

    Each change leads to a state of its own, so that earlier ones stay as they are, and undoing costs nothing. Changes
    name registrations as they are before any of them, with what is added after all others.
    """

    def __init__(self, state: State, path: str | None = None) -> None:
        """path: the file that the changes are written to; None for a name that is free."""
        self.original = state
        self._file = ChangesFile(state.declarations.files, path)
        self._versions = [TriedChanges(state, (), self.path)]
        self._at = 0

    @property
    def path(self) -> str:
        """The file that the changes are written to: none that is there already."""
        return self._file.path

    @property
    def state(self) -> State:
        """The state with the changes."""
        return self._now.state

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that are in effect, in the order in which they were made."""
        return self._now.changes

    @property
    def touched(self) -> Touched:
        """Extent of the changes, so that the work of a comparison can be counted before."""
        return self._now.touched

    def apply(self, *changes: Change) -> None:
        """Make changes.

        Errors: Refused, with PyTorch's text, where PyTorch refuses it, and for a change of what is not there; then
        everything is as it was.
        """
        self._go_to(self._now, changes)

    def take_back(self, number: int) -> None:
        """Leave one change out, by its position from 1. Errors: Refused where others need it."""
        changes = [*self.changes]
        gone = changes.pop(number - 1)
        if isinstance(gone, Addition):
            place = self._now.places[sum(isinstance(change, Addition) for change in changes[: number - 1])]
            there = self._now.names.of(gone.operator, isinstance(gone.kernel, str))
            name = next(registration.name for registration in there if registration.span == place.kernel)
            changes = [*without_registration(changes, name)]
        self._go_to(self._versions[0], changes)

    def over(self, state: State) -> tuple[WhatIf, tuple[Change, ...]]:
        """Try out the same changes, each for itself, on another state; also those that cannot be made there."""
        other = WhatIf(state, self.path)
        left_out = [change for change in self.changes if not other._takes(change)]
        other._file = self._file.of(state.declarations.files)
        return other, tuple(left_out)

    def undo(self) -> bool:
        """Go back by one step; true if there was one."""
        can = self.can_undo
        self._at -= can
        self._keep_lines()
        return can

    def redo(self) -> bool:
        """Take back an undo; true if there was one."""
        can = self.can_redo
        self._at += can
        self._keep_lines()
        return can

    @property
    def text(self) -> str:
        """The changes as a declaration file."""
        return text_of(self.changes, self._now.names)

    def write(self, path: str | None = None) -> str:
        """Write the changes to a file; its name.

        path: by default that of before. A file that is there is replaced only if all of it was written here.
        Errors: CannotSave, also for a file that the state was made from.
        """
        written = self._file.write(self.changes, self.text, path)
        if written != self._now.path:
            self._versions = [self._renamed(version) for version in self._versions]
            self._keep_lines()
        return written

    @property
    def unsaved(self) -> bool:
        """True if there are changes that have not been written."""
        return bool(self.changes) and self.changes != self._file.changes

    @property
    def can_undo(self) -> bool:
        """True if there is something to undo."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """True if there is something to redo."""
        return self._at + 1 < len(self._versions)

    @property
    def findings(self) -> FindingsEffect | None:
        """The findings that come and go; None where so much has to be checked for that that `search` is to do it."""
        now = self._now
        return now.findings if "findings" in vars(now) or not now.takes_long else None

    def search(self) -> Callable[[], FindingsEffect]:
        """A function that looks for these findings, and may run in a thread: it uses states of its own."""
        copies, touched = self.copies(), self._now.touched
        return lambda: findings_effect(*copies(), touched)

    def copies(self) -> Callable[[], tuple[State, State]]:
        """A function that makes the original state and the one with the changes anew, and may run in a thread."""
        original, declarations = self.original, self._now.declared
        return lambda: (rerun(original, all_declarations(original)), rerun(original, declarations))

    def take(self, changes: tuple[Change, ...], result: FindingsEffect) -> bool:
        """Note what `search` has found for these changes; true if they are those in effect."""
        now = self._now
        if now.changes != changes:
            return False
        vars(now)["findings"] = result
        return True

    def registrations(self, operator: OperatorName | None, python: bool = False) -> list[NamedRegistration]:
        """Registrations that can be switched off or moved: of an operator, or backend fallbacks; as now, oldest first.

        Their names are those that a further change can have.
        """
        names = {registration.identity: registration.name for registration in self._now.names.of(operator, python)}
        now = RegistrationIndex(self._now.declared, self.original.source).of(operator, python)
        return [registration._replace(name=names[registration.identity]) for registration in now]

    # inside

    @property
    def _now(self) -> TriedChanges:
        return self._versions[self._at]

    def _go_to(self, version: TriedChanges, changes: Iterable[Change]) -> None:
        """Go to a version with further changes."""
        for change in changes:
            before = version
            version = TriedChanges(self.original, (*before.changes, exact(change, before)), before.path)
            version.follow(before)
        del self._versions[self._at + 1 :]
        self._versions.append(version)
        self._at += 1
        self._keep_lines()

    def _keep_lines(self) -> None:
        """The lines that the file would have are shown as those of files are."""
        now = self._now
        read_files.keep_lines(self.path, 0, lambda: text_of(now.changes, now.names).splitlines())

    def _renamed(self, version: TriedChanges) -> TriedChanges:
        """A version whose places are in the file that there is now."""
        changes = TriedChanges(self.original, version.changes, self.path)
        changes.touched = version.touched
        return changes

    def _takes(self, change: Change) -> bool:
        """Make a change if it can be made; true if it was."""
        try:
            self.apply(change)
        except Refused:
            return False
        return True
