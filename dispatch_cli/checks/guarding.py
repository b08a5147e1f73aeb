"""Evaluation of guards: the operators and slots that each is about, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property

from dispatch_cli.checks.expectations import (
    OF_CALLS,
    OF_HOP,
    OF_OPERATOR,
    OF_SLOTS,
    OF_TEXT,
    Cells,
    Ended,
    GuardBudget,
    Held,
    Violation,
    call_ends,
    holds,
)
from dispatch_cli.checks.text import (
    call_words,
    end_words,
    first_line,
    kernel_text,
    wanted_call_words,
    wanted_words,
)
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.calls.call import CallError
from dispatch_cli.model.calls.guard import Guard, GuardField
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.glob import glob_pattern, is_glob


def call_violation(state: State, guard: Guard, operator: OperatorName, budget: GuardBudget) -> Violation | None:
    """Violation of a guard by the call of an operator; None where the call is as the guard wants it, or there is none.

    Errors: InputError when the calls are too much work.
    """
    call = guard.call
    if call is None:
        return None
    budget.spend(OF_HOP, guard)
    from dispatch_cli.engine.call.simulate import simulate

    try:
        simulated = simulate(state, operator, call.tensors, call.contexts, options=call.options)
    except CallError as error:
        return Violation((), f"a call with {call_words(call)}", f"cannot be made: {error.message}")
    budget.spend(len(simulated.hops) * OF_HOP, guard)
    ended = _ended(simulated)
    wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, ended)]
    if not wanted:
        return None
    return Violation(
        () if ended.key is None else (ended.key,), wanted_call_words(wanted, call), ended.words, ended.entry
    )


def _ended(call: Call) -> Ended:
    end = call.end
    error = None if end.error is None else first_line(end.error.text)
    last = call.hops[-1] if call.hops else None
    ran = None if last is None or end.kind is EndKind.ERROR else kernel_text(call)
    key, entry = (None, None) if last is None else (last.slot, last.live)
    return Ended(end.kind, ran, key, error, end_words(call), entry)


class Guards:
    """The operators and slots that the guards of a state are about, and what breaks the guards."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._cells = Cells(view)
        self._budget = GuardBudget()
        self._found: dict[str, tuple[OperatorName, ...]] = {}
        self._operators: dict[tuple[str, ...], tuple[OperatorName, ...]] = {}
        self._slots = cache(self._read_slots)
        self._chosen = cache(self._choose)

    def operators(self, guard: Guard) -> tuple[OperatorName, ...]:
        """The operators that a guard is about, as far as the view lets it; by glob, then by name."""
        matches = self._operators.get(guard.ops)
        if matches is None:
            new = sum(is_glob(glob) and glob not in self._found for glob in guard.ops)
            self._budget.spend(new * len(self._names) * OF_TEXT, guard)
            names = dict.fromkeys(name for glob in guard.ops for name in self._matching(glob))
            guarded = self._view.guarded
            matches = tuple(names) if guarded is None else tuple(name for name in names if name in guarded)
            self._operators[guard.ops] = matches
        return matches

    def unmatched(self, guard: Guard) -> Iterator[tuple[str, str]]:
        """The globs of a guard that match nothing: the word for what they should match, and the glob."""
        for glob in guard.ops:
            if not self._matching(glob) and not self._is_conditional(glob):
                yield "operator", glob
        for glob in guard.keys:
            if not self._slots(glob):
                yield "dispatch key", glob

    def broken(self, guard: Guard) -> Iterator[tuple[OperatorName, tuple[Violation, ...]]]:
        """The operators that break a guard, and its violations by each. Errors: InputError when it is too much work."""
        slots = self._cells.bits(self.keys(guard))
        for name in self.operators(guard):
            if broken := tuple(self._of_operator(guard, name, slots)):
                yield name, broken

    def _of_operator(self, guard: Guard, name: OperatorName, slots: int) -> Iterator[Violation]:
        """Violations by a call, by the backends that should have the operator, and by slots. slots: as bits."""
        self._budget.spend(OF_OPERATOR, guard)
        violation = call_violation(self._view.state, guard, name, self._budget)
        if violation is not None:
            yield violation
        table, cells = self._cells.of(name)

        def at(key: str) -> Held:
            return self._cells.held(table[key])

        for want in guard.wants:
            if want.field is GuardField.BACKEND and not holds(want, held := at(want.texts[0]), at):
                yield Violation(want.texts, wanted_words(want), held.words, held.entry)
        wants = [want for want in guard.wants if want.field in OF_SLOTS]
        by_reason: dict[tuple[str, str], tuple[Held, int]] = {}
        for part, held in cells if wants else ():
            wanted = " and ".join([wanted_words(want) for want in wants if part & slots and not holds(want, held, at)])
            if wanted:
                first, bits = by_reason.get((wanted, held.words), (held, 0))
                by_reason[wanted, held.words] = first, bits | (part & slots)
        for (wanted, words), (held, bits) in by_reason.items():
            yield Violation(self._cells.keys(bits), wanted, words, held.entry)

    def keys(self, guard: Guard) -> tuple[str, ...]:
        """The slots that a guard is about, in runtime order."""
        return self._chosen(guard.keys, guard.excepted)

    def _choose(self, keys: tuple[str, ...], excepted: tuple[str, ...]) -> tuple[str, ...]:
        chosen = {key for glob in keys for key in self._slots(glob)}
        chosen.difference_update(key for glob in excepted for key in self._slots(glob))
        return tuple(sorted(chosen, key=self._view.universe.slot.__getitem__))

    def _is_conditional(self, glob: str) -> bool:
        """True if a glob matches an operator that is defined under other conditions."""
        variants = self._view.first.state.variants
        match = glob_pattern(glob).match
        return variants is not None and any(match(str(name)) for name in variants.defined)

    def _matching(self, glob: str) -> tuple[OperatorName, ...]:
        names = self._found.get(glob)
        if names is None:
            if is_glob(glob):
                match = glob_pattern(glob).match
                names = tuple(name for text, name in self._names.items() if match(text))
            else:
                name = self._names.get(glob)
                names = () if name is None else (name,)
            self._found[glob] = names
        return names

    @cached_property
    def _names(self) -> Mapping[str, OperatorName]:
        return {str(name): name for name in self._view.names}

    def _read_slots(self, glob: str) -> tuple[str, ...]:
        universe = self._view.universe
        if universe.is_alias(glob):
            return universe.covered_by(glob)
        if glob in universe.slot:
            return (glob,)
        return tuple(filter(glob_pattern(glob).match, universe.slots))
