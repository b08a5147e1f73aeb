"""Changes that are tried out, the state with them, and the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from dispatch_cli.engine.history import all_declarations, refusal_of, rerun
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refusal, Refused
from dispatch_cli.model.changes.change import (
    Addition,
    Change,
    ChangeError,
    HistoryChange,
    RegistrationName,
    Removal,
    Reordering,
    with_added,
)
from dispatch_cli.model.changes.history_editor import HistoryEditor
from dispatch_cli.model.changes.registration_names import RegistrationIndex
from dispatch_cli.model.declarations import Declarations, Fallback, Implement
from dispatch_cli.whatif.additions import addition_places
from dispatch_cli.whatif.findings import FindingsEffect, Touched, findings_effect, takes_long
from dispatch_cli.whatif.written import FIRST_SECTION, change_places


class TriedChanges:
    """Changes, and the state with them.

    path, places: the file that the changes are written to, and where it has each addition.
    added: what is declared with the additions, of which the other changes speak. declared: with all changes.
    touched: what the changes can concern.
    """

    def __init__(self, original: State, changes: tuple[Change, ...], path: str) -> None:
        self.original = original
        self.changes = changes
        self.path = path
        self.places = addition_places(changes, path, FIRST_SECTION)
        self.added = with_added(all_declarations(original), changes, self.places)
        editor = HistoryEditor(self.added, original.source)
        others = [change for change in changes if not isinstance(change, Addition)]
        try:
            for change, place in zip(others, change_places(changes, path), strict=True):
                editor.make(change, place)
        except ChangeError as error:
            raise refusal_of(error) from None
        self.declared = editor.result()
        self.state = rerun(original, self.declared) if changes else original
        if self.declared.changes is not None and original.declarations.changes is None and len(others) == len(changes):
            self.state.unchanged = original
        self.touched = Touched()

    def follow(self, before: TriedChanges) -> None:
        """Note what the changes can concern. before: the version that does not have the last one."""
        change = self.changes[-1]
        operator, key = (change.operator, change.key) if isinstance(change, Addition) else change.which[:2]
        if operator is None:
            covered = self.original.dispatcher.universe.covered_by(key)
            self.touched = before.touched._replace(keys=before.touched.keys | {*covered})
        else:
            self.touched = before.touched._replace(operators=before.touched.operators | {operator})

    @cached_property
    def names(self) -> RegistrationIndex:
        """Registrations that a further change can name."""
        return RegistrationIndex(self.added, self.original.source)

    @cached_property
    def findings(self) -> FindingsEffect:
        """The findings that come and go."""
        return findings_effect(self.original, self.state, self.touched) if self.changes else FindingsEffect()

    @cached_property
    def takes_long(self) -> bool:
        """True if finding `findings` takes so long that nobody should wait for it."""
        return bool(self.changes) and takes_long(self.state, self.touched)


def exact(change: Change, now: TriedChanges) -> Change:
    """A change that names registrations by their numbers, so that later additions leave no doubt.

    Errors: Refused, for a change of what is not there.
    """
    if isinstance(change, Addition):
        return _completed(change, now.added)
    try:
        return _with_names(change, lambda name: now.names.find(name).name)
    except ChangeError as error:
        raise refusal_of(error) from None


def without_registration(changes: Iterable[Change], gone: RegistrationName) -> Iterator[Change]:
    """Changes where one of the registrations that they add is not there. Errors: Refused where another means that."""
    for change in changes:
        yield change if isinstance(change, Addition) else _with_names(change, lambda name: _without(name, gone))


def _completed(change: Addition, declarations: Declarations) -> Addition:
    """An addition that goes on with a call as its function does elsewhere: kernels of one name are one function."""
    kernel = change.kernel
    if isinstance(kernel, str) or kernel.function is None or kernel.fallthrough:
        return change
    for step in declarations.steps:
        if isinstance(step, Implement | Fallback) and step.kernel.function == kernel.function:
            return change._replace(kernel=kernel._replace(redispatches=step.kernel.redispatches))
    return change


def _with_names(change: HistoryChange, rename: Callable[[RegistrationName], RegistrationName]) -> HistoryChange:
    if isinstance(change, Removal):
        return Removal(rename(change.which))
    return Reordering(rename(change.which), rename(change.target), change.is_after)


def _without(name: RegistrationName, gone: RegistrationName) -> RegistrationName:
    """A name where a registration is not there. Errors: Refused where it means that one."""
    if name == gone:
        raise Refused(Refusal.NO_KERNEL, f"another change needs the registration of {gone}")
    same = name._replace(number=None) == gone._replace(number=None)
    shifted = same and name.number is not None and gone.number is not None and name.number > gone.number
    return name._replace(number=name.number - 1) if shifted and name.number is not None else name
