"""Evaluation of guards: the operators and slots that each is about, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property

from dispatch_cli.checks.expectations import (
    OF_OPERATOR,
    OF_TEXT,
    Cells,
    GuardBudget,
    Held,
    Violation,
    holds,
)
from dispatch_cli.checks.text import (
    wanted_words,
)
from dispatch_cli.checks.view import View
from dispatch_cli.model.calls.guard import Guard
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.glob import glob_pattern, is_glob


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
        """Violations by an operator. slots: those that the guard is about, as bits."""
        self._budget.spend(OF_OPERATOR, guard)
        table, cells = self._cells.of(name)

        def at(key: str) -> Held:
            return self._cells.held(table[key])

        by_reason: dict[tuple[str, str], tuple[Held, int]] = {}
        for part, held in cells:
            wants = guard.wants if part & slots else ()
            wanted = " and ".join([wanted_words(want) for want in wants if not holds(want, held, at)])
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
