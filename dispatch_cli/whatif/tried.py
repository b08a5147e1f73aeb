"""Some changes, the state with them, and what is different there."""

from __future__ import annotations

from functools import cached_property

from dispatch_cli.engine.history.changed import all_declarations, refusal_of, rerun
from dispatch_cli.engine.history.reduced import whole
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.change import Addition, Change, ChangeError, Reordering, with_added
from dispatch_cli.model.declarations import Define, Fallback, Implement
from dispatch_cli.model.history_editor import change_history, moving_steps
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registration_names import RegistrationIndex, operator_of
from dispatch_cli.model.registrations_at_key import NamedRegistration
from dispatch_cli.whatif.additions import addition_places
from dispatch_cli.whatif.effect import (
    Effect,
    PythonSlotEffect,
    SlotEffect,
    SlotPlace,
    Touched,
    caused_by,
    python_slot_changes,
    slot_changes,
)
from dispatch_cli.whatif.findings import FindingsEffect, findings_effect, takes_long
from dispatch_cli.whatif.written import FIRST_SECTION


class TriedChanges:
    """Some changes, and the state with them.

    path, places: the file that the changes are written to, and where it has each addition.
    added: what is declared with the additions, of which the other changes speak. said: with all changes.
    touched: what each change can concern. steps: the slots that each has changed.
    """

    def __init__(self, original: State, changes: tuple[Change, ...], path: str) -> None:
        self.original = original
        self.changes = changes
        self.path = path
        self.places = addition_places(changes, path, FIRST_SECTION)
        self.added = with_added(all_declarations(original), changes, self.places)
        source = whole(original.source)
        try:
            self.said = change_history(self.added, source, [one for one in changes if not isinstance(one, Addition)])
        except ChangeError as error:
            raise refusal_of(error) from None
        self.state = rerun(original, self.said) if changes else original
        self.touched: tuple[Touched, ...] = ()
        self.steps: tuple[frozenset[SlotPlace], ...] = ()

    def follow(self, before: TriedChanges) -> None:
        """Note what the last change has changed since *before*, which does not have it."""
        one = before.touched_by(self.changes[-1])
        slots = slot_changes(before.state, self.state, one)
        self.touched = (*before.touched, one)
        self.steps = (*before.steps, frozenset(slot.place for slot in slots))
        if not before.changes:  # the slots that this one has changed are all
            vars(self)["slots"] = caused_by(slots, self.steps)

    def touched_by(self, change: Change) -> Touched:
        """What a further change can concern."""
        covered = self.original.dispatcher.universe.covered_by
        if not isinstance(change, Reordering):
            operator, key = (change.operator, change.key) if isinstance(change, Addition) else change.which[:2]
            return Touched(keys=frozenset(covered(key))) if operator is None else Touched(frozenset((operator,)))
        operators, keys = set(), set[str]()
        for step in moving_steps(self.added, whole(self.original.source), change):
            if isinstance(step, Fallback):
                keys.update(covered(step.dispatch_key))
            elif isinstance(step, Implement):
                operators.add(operator_of(step))
            elif isinstance(step, Define):
                operators.add(step.schema.name)
        return Touched(frozenset(operators), frozenset(keys))

    @cached_property
    def names(self) -> RegistrationIndex:
        """What a further change can name."""
        return RegistrationIndex(self.added, whole(self.original.source))

    def registered(self, operator: OperatorName | None, python: bool) -> list[NamedRegistration]:
        """The registrations that a further change can name."""
        return self.names.of(operator, python)

    @cached_property
    def all_touched(self) -> Touched:
        """What all changes can concern."""
        touched = Touched()
        for one in self.touched:
            touched |= one
        return touched

    @cached_property
    def slots(self) -> tuple[SlotEffect, ...]:
        """The slots that are different from the original state."""
        return caused_by(slot_changes(self.original, self.state, self.all_touched), self.steps)

    @cached_property
    def python_slots(self) -> tuple[PythonSlotEffect, ...]:
        """The same of Python's choices."""
        return tuple(python_slot_changes(self.original, self.state, self.all_touched))

    @cached_property
    def findings(self) -> FindingsEffect:
        """The findings that come and go."""
        return findings_effect(self.original, self.state, self.all_touched) if self.changes else FindingsEffect()

    @cached_property
    def takes_long(self) -> bool:
        """Whether finding `findings` takes so long that nobody should wait for it."""
        return bool(self.changes) and takes_long(self.state, self.all_touched)

    @cached_property
    def effect(self) -> Effect:
        """What is different from the original state."""
        touched = self.all_touched
        operators = len(self.original.dispatcher) if touched.keys else len(touched.operators)
        return Effect(self.slots, self.python_slots, *self.findings, operators)
