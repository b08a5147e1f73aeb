"""The search for changes that help: remedies are tried on a checkpoint, and completed where one needs more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from dispatch_cli.answers.explain.advice_report import Advice, Change, Filled, Manual
from dispatch_cli.answers.explain.remedies import Remedy, remedies, removal
from dispatch_cli.answers.explain.trial import Calls, Question, Trial, answer, failing_slot, works
from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.answers.table.slot_notes import slot_notes
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.engine.table.table import TableEntry, changed_slots
from dispatch_cli.model.changes.change import Action, Edit, Function, own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED, autograd_keys_of

MAX_CHANGES = 4
"""Changes that are shown for one note."""
MAX_ROUNDS = 5
"""Limit of rounds in which a change that leads to something new is completed."""
MANUAL = {
    NoteKind.NEAR_NAME: Manual.CORRECT_NAME,
    NoteKind.NEAR_KERNELS: Manual.CORRECT_NAME,
    NoteKind.OVERLOADS: Manual.CORRECT_NAME,
    NoteKind.NO_TENSORS: Manual.PASS_TENSOR,
    NoteKind.STALE: Manual.CHANGE_ORDER,
    NoteKind.DISPLACED: Manual.DECOMPOSE,
}
"""Advice that is left for each kind of note where no change helps."""


class _Weighed(NamedTuple):
    """A change that helps, and what it costs. broken: how many kinds of calls no longer work."""

    broken: int
    change: Change

    @property
    def cost(self) -> tuple[int, bool, int, int]:
        """Cost of a change: calls that no longer work, other slots that change, edits.

        An operator's fallthrough is for one without a derivative, which nothing here knows, so it comes last.
        """
        change = self.change
        skips = any(edit.action is Action.REGISTER and edit.function is Function.FALLTHROUGH for edit in change.edits)
        return self.broken, skips, len(change.also_changes), len(change.edits)


class Adviser:
    """Looks for changes of one operator."""

    def __init__(self, state: State, name: OperatorName, asked: Question | None) -> None:
        self._state = state
        self._name = name
        self._asked = asked
        self._trial = Trial(state, name)
        self._table = state.dispatcher.table(name)
        definition = state.dispatcher.operator(name).definition
        self._schema = None if definition is None else definition.known_schema
        self._calls = Calls(self._trial.universe, self._schema)
        # whether a call works without any change; not to be asked while one is tried
        self._worked = cache(lambda question: works(answer(state, name, question)))

    def advice(self, note: Note) -> Advice:
        """A note with what would help; the state is as it was then."""
        name = str(self._name)
        if self._schema is None and self._name in self._state.own_operators():
            misspelled = MANUAL.get(note.kind) is Manual.CORRECT_NAME
            return Advice(name, *note, (), Manual.CORRECT_NAME if misspelled else Manual.DEFINE)
        candidates = []
        for remedy in remedies(self._trial.view, self._name, note, self._schema):
            weighed = self._tried(remedy)
            if weighed is not None:
                candidates.append(weighed)
        candidates.sort(key=lambda candidate: candidate.cost)
        kept = [candidate.change for candidate in candidates if candidate.broken == candidates[0].broken][:MAX_CHANGES]
        return Advice(name, *note, tuple(kept), None if kept else self._manual(note))

    def _manual(self, note: Note) -> Manual | None:
        slot = note.keys[0] if note.keys else UNDEFINED
        if note.kind is NoteKind.DISPLACED and self._table[slot].decision.source is not None:
            return None
        if slot != UNDEFINED and slot not in self._trial.universe.parseable and note.kind is not NoteKind.SKIPPED:
            return Manual.REGISTER_IN_CPP
        return MANUAL.get(note.kind)

    def _tried(self, remedy: Remedy) -> _Weighed | None:
        """The remedy as a change that holds, completed where that takes more; None where it does not hold."""
        edits = remedy.edits
        for _ in range(MAX_ROUNDS):
            if not self._trial.universe.parseable.issuperset(edit.key for edit in edits):
                return None
            try:
                with self._trial.after(edits) as state:
                    lacks = self._lacks(state, remedy)
                    change, failing = self._change(state, remedy, edits)
            except (Refused, _DoesNotHold):
                return None
            if not lacks:
                return _Weighed(sum(map(self._worked, failing)), change)
            if set(lacks) <= set(edits):
                return None
            edits = (*edits, *(edit for edit in lacks if edit not in edits))
        return None

    def _lacks(self, state: State, remedy: Remedy) -> tuple[Edit, ...]:
        """Edits that a change needs beside its own. Errors: _DoesNotHold."""
        entry = state.dispatcher.table(self._name)[remedy.slot]
        if not _fills(entry, remedy) or remedy.slot in state.dispatcher.stale_slots(self._name):
            raise _DoesNotHold
        asked = [self._asked] if self._asked is not None else self._calls.to(self._table, remedy.slot, remedy.reaches)
        calls = [answer(state, self._name, question) for question in asked]
        for call in calls:
            if not works(call):
                return self._below(state, call)
            if remedy.reaches and call is not None and remedy.reaches.isdisjoint(hop.slot for hop in call.hops):
                raise _DoesNotHold
        new = self._trial.new_finding(state)
        return _or_not_at_all(new.fix) if new is not None else ()

    def _below(self, state: State, call: Call | None) -> tuple[Edit, ...]:
        """The kernel that a call still needs. Errors: _DoesNotHold."""
        slot = UNDEFINED if call is None else failing_slot(call)
        entry = state.dispatcher.table(self._name)[slot]
        if entry.is_fallthrough and entry.rule is Rule.KERNEL:
            gone = removal(self._trial.view, self._name, slot)
            return _or_not_at_all((gone, own_kernel(self._name, slot)) if gone is not None else ())
        return _or_not_at_all((own_kernel(self._name, slot),) if entry.kernel is None and slot != UNDEFINED else ())

    def _change(self, state: State, remedy: Remedy, edits: tuple[Edit, ...]) -> tuple[Change, list[Question]]:
        """Effects of a change, and calls that fail after it."""
        after = state.dispatcher.table(self._name)
        entry = after[remedy.slot]
        changed = [became.key for _, became in changed_slots(self._table, after)]
        also = tuple(key for key in changed if key != remedy.slot)
        filled = Filled(remedy.slot, entry.rule, entry.decision.source)
        change = Change(str(self._name), edits, filled, also, self._trial.drops_calls(state))
        return change, self._failing(state, changed)

    def _failing(self, state: State, changed: Sequence[str]) -> list[Question]:
        """The calls that fail after a change, of tensors with a key of which the answer has changed.

        Where the answers at all keys of two tensors are the same, before and after, one call speaks for both.
        """
        after = state.dispatcher.table(self._name)
        asked: dict[object, Question] = {}
        for key, question in self._calls.all:
            keys = (key, *autograd_keys_of(self._trial.universe, key))
            if not frozenset(keys).isdisjoint(changed):
                answers = tuple(_answer(table[key]) for table in (self._table, after) for key in keys)
                asked.setdefault((answers, bool(question.contexts)), question)
        return [call for call in asked.values() if not works(answer(state, self._name, call))]


def _answer(entry: TableEntry) -> tuple[object, ...]:
    kernel = entry.kernel
    return entry.rule, entry.decision.source, kernel is not None and (kernel.debug, kernel.fallthrough)


class _DoesNotHold(Exception):
    """A change does not do what it is for."""


def _or_not_at_all(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    if not edits:
        raise _DoesNotHold
    return edits


def _fills(entry: TableEntry, remedy: Remedy) -> bool:
    """True if the slot holds what the remedy is to put there."""
    if any(edit.action is Action.FALL_BACK for edit in remedy.edits):
        return entry.rule is Rule.FALLBACK
    if remedy.source is None:
        return entry.decision.source is not None and not entry.is_fallthrough
    return entry.decision.source == remedy.source


def slot_advice(state: State, name: OperatorName, key: str) -> tuple[Advice, ...]:
    """Notes on a slot, with advice. Errors: Refused for an unknown operator."""
    return advice_on(state, name, slot_notes(state.dispatcher, name, key))


def advice_on(
    state: State, name: OperatorName, notes: Sequence[Note], asked: Question | None = None
) -> tuple[Advice, ...]:
    """Notes on a slot, with advice. asked: the call that is to work; else a call that gets to the slot."""
    if not notes:
        return ()
    adviser = Adviser(state, name, asked)
    return tuple(map(adviser.advice, notes))
