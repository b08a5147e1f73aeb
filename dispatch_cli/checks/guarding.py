"""Whether guards hold: which operators and slots each speaks of, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.checks.cells import Cell, Cells
from dispatch_cli.checks.expectations import COMPUTING, OF_CALLS, OF_SLOTS, call_ends, holds
from dispatch_cli.checks.text import call_words, end_words, wanted_call_words, wanted_words
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.call import CallError
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.guard import Expectation, Guard, GuardedCall, GuardField
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.span import Span


class Violation(NamedTuple):
    """Where one operator is not as a guard wants it.

    keys: the slots, or the modes and so on, that hold the same; none where a call is meant that did not get as far.
    wanted: the expectations that do not hold, in words. found: what is there, in words. entry: what fills the first
    slot. span: where the implementation of a higher-order operator is declared.
    """

    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry | None = None
    span: Span | None = None

    @property
    def key(self) -> str | None:
        """The first of its keys."""
        return self.keys[0] if self.keys else None

    @property
    def reason(self) -> str:
        """What it has in common with what other operators do not do for the guard."""
        return f"the guard requires {self.wanted}"


class BrokenOperator(NamedTuple):
    """An operator that is not as a guard wants it, and where. Operators with one plan share most of these."""

    operator: OperatorName
    violations: tuple[Violation, ...]


class Guards:
    """The guards of a state, each once, in the order they are declared.

    Guards that ask the same of the same operators and slots count as the first of them, however they say it.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._cells = Cells(view)
        self._found: dict[str, tuple[OperatorName, ...]] = {}
        self._chosen: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}

    @cached_property
    def all(self) -> tuple[Guard, ...]:
        """Every guard, without repetitions; each knows where it is repeated, and has the reasons of all."""
        alike: dict[object, list[Guard]] = {}
        for guard in self._view.state.declarations.guards:
            alike.setdefault(self._meaning(guard), []).append(guard)
        return tuple(_merged(guards) for guards in alike.values())

    def _meaning(self, guard: Guard) -> object:
        """What a guard asks for, equal for guards that differ in wording, order or reason only."""
        unknown = (glob for glob in guard.keys if not self._slots(glob))
        wants = ((want.field, frozenset(want.texts)) for want in guard.wants)
        places = frozenset(guard.places)
        return frozenset(guard.ops), self.keys(guard), frozenset(unknown), frozenset(wants), guard.call, places

    def operators(self, guard: Guard) -> tuple[OperatorName, ...]:
        """The operators that a guard speaks of, as far as the view lets it; by glob, then by name."""
        found = dict.fromkeys(name for glob in guard.ops for name in self._matching(glob))
        guarded = self._view.guarded
        return tuple(found) if guarded is None else tuple(name for name in found if name in guarded)

    def higher_order(self, guard: Guard) -> tuple[HigherOrderOperator, ...]:
        """The higher-order operators that a guard speaks of, as far as the view lets it."""
        found = dict.fromkeys(operator for glob in guard.ops for operator in self._higher_order_matching(glob))
        guarded = self._view.guarded
        return tuple(one for one in found if guarded is None or OperatorName(one.name) in guarded)

    def _higher_order_matching(self, glob: str) -> tuple[HigherOrderOperator, ...]:
        """By name, or by a glob that begins with their namespace: ``*`` alone is about ordinary operators."""
        namespace, sign, rest = glob.rpartition("::")
        if namespace != (HIGHER_ORDER_NAMESPACE if sign else "") or (not sign and is_glob(rest)):
            return ()
        match = glob_pattern(rest).match
        return tuple(one for one in self._view.state.higher_order_operators if one.name == rest or match(one.name))

    def unmatched(self, guard: Guard) -> Iterator[tuple[str, str]]:
        """The globs of a guard that match nothing: the word for what they should match, and the glob."""
        for glob in guard.ops:
            if self._higher_order_matching(glob):
                continue
            if not self._matching(glob) and not any(map(glob_pattern(glob).match, self._view.broken)):
                yield "operator", glob
        for glob in guard.keys:
            if not self._slots(glob):
                yield "dispatch key", glob

    def broken(self, guard: Guard) -> Iterator[BrokenOperator]:
        """Where it is not as a guard wants it, operator by operator."""
        keys = self.keys(guard)
        of_slots = any(want.field in OF_SLOTS for want in guard.wants)
        of_backend = [want for want in guard.wants if want.field is GuardField.BACKEND]
        slots = _Slots(guard, self._cells, self._cells.bits(keys))
        for name in self.operators(guard):
            others = [] if guard.call is None else list(self._of_call(guard, name, guard.call))
            for want in of_backend:
                others += self._of_backend(name, want)
            found = (*others, *slots.broken(name)) if of_slots else tuple(others)
            if found:
                yield BrokenOperator(name, found)
        operators = self.higher_order(guard)
        if operators:
            from dispatch_cli.checks.guarding_higher_order import broken as of_higher_order

            for operator in operators:
                some = of_higher_order(self._view.state, guard, operator, keys)
                violations = tuple(Violation(one.keys, one.wanted, one.found, None, one.span) for one in some)
                if violations:
                    yield BrokenOperator(OperatorName(operator.name), violations)

    def keys(self, guard: Guard) -> tuple[str, ...]:
        """The slots that a guard speaks of, in runtime order."""
        found = self._chosen.get((guard.keys, guard.excepted))
        if found is None:
            chosen = {key for glob in guard.keys for key in self._slots(glob)}
            chosen.difference_update(key for glob in guard.excepted for key in self._slots(glob))
            found = tuple(sorted(chosen, key=self._view.universe.slot.__getitem__))
            self._chosen[guard.keys, guard.excepted] = found
        return found

    def _of_backend(self, name: OperatorName, want: Expectation) -> Iterator[Violation]:
        entry = self._cells.own(name)[0][want.texts[0]]
        if entry.rule not in COMPUTING or entry.is_fallthrough:
            yield Violation((entry.key,), wanted_words(want), self._cells.found_words(entry), entry)

    def _of_call(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Iterator[Violation]:
        from dispatch_cli.engine.call.simulate import simulate

        try:
            done = simulate(self._view.state, name, call.tensors, call.contexts, options=call.options)
        except CallError as error:
            yield Violation((), f"a call with {call_words(call)}", f"cannot be made: {error.message}")
            return
        wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, done)]
        if wanted:
            last = done.hops[-1] if done.hops else None
            slots, live = ((last.slot,), last.live) if last is not None else ((), None)
            yield Violation(slots, wanted_call_words(wanted, call), end_words(done), live)

    def _matching(self, glob: str) -> tuple[OperatorName, ...]:
        found = self._found.get(glob)
        if found is None:
            if is_glob(glob):
                match = glob_pattern(glob).match
                found = tuple(name for text, name in self._names.items() if match(text))
            else:
                name = self._names.get(glob)
                found = () if name is None else (name,)
            self._found[glob] = found
        return found

    @cached_property
    def _names(self) -> Mapping[str, OperatorName]:
        return {str(name): name for name in self._view.names}

    def _slots(self, glob: str) -> tuple[str, ...]:
        universe = self._view.universe
        if universe.is_alias(glob):
            return universe.covered_by(glob)
        if glob in universe.slot:
            return (glob,)
        return tuple(filter(glob_pattern(glob).match, universe.slots))


class _Slots:
    """The slots of operators, held against one guard. slots: those that it speaks of, as bits."""

    def __init__(self, guard: Guard, cells: Cells, slots: int) -> None:
        self._wants = guard.wants
        self._cells = cells
        self._slots = slots
        self._compares = any(want.field is GuardField.SAME_AS for want in guard.wants)
        self._verdicts: dict[int, str] = {}
        self._shared: dict[Plan, tuple[Violation, ...]] = {}

    def broken(self, name: OperatorName) -> tuple[Violation, ...]:
        """Where an operator is not as the guard wants it: slots with its own kernels, then the others."""
        table, own = self._cells.own(name)
        if self._compares:
            self._verdicts.clear()
            return self._violations((*own, *self._cells.shared(table)), table)
        shared = self._shared.get(table.plan)
        if shared is None:
            shared = self._shared[table.plan] = self._violations(self._cells.shared(table), table)
        return (*self._violations(own, table), *shared)

    def _violations(self, cells: Iterable[Cell], table: Table) -> tuple[Violation, ...]:
        found: dict[tuple[str, str], tuple[int, TableEntry]] = {}
        for cell in cells:
            slots = cell.slots & self._slots
            if slots and (wanted := self._wanted(cell, table)):
                reason = wanted, cell.found
                others, entry = found.get(reason, (0, cell.entry))
                found[reason] = others | slots, entry
        keys = self._cells.keys
        return tuple(Violation(keys(slots), *reason, entry) for reason, (slots, entry) in found.items())

    def _wanted(self, cell: Cell, table: Table) -> str:
        """What a cell misses of what the guard wants, in words; nothing where it holds."""
        wanted = self._verdicts.get(cell.content)
        if wanted is None:
            missed = (wanted_words(want) for want in self._wants if not holds(want, cell.entry, table))
            wanted = self._verdicts[cell.content] = " and ".join(missed)
        return wanted


def _merged(guards: list[Guard]) -> Guard:
    """Guards that ask for the same as one: the first, with the places and the reasons of all."""
    first, *others = guards
    if not others:
        return first
    reasons = dict.fromkeys(guard.reason for guard in guards if guard.reason is not None)
    places = tuple(guard.span for guard in others if guard.span is not None)
    return first._replace(reason="; ".join(reasons) or None, repeated_at=places)
