"""Whether guards hold: which operators and slots each speaks of, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.checks.expectations import COMPUTING, OF_CALLS, OF_SLOTS, call_ends, holds, matcher
from dispatch_cli.checks.text import call_words, end_words, wanted_words
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.call import CallError
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

    guard: Guard
    operator: OperatorName
    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry | None = None
    span: Span | None = None


class Guards:
    """The guards of a state, each once, in the order they are declared.

    Guards that ask the same of the same operators and slots count as the first of them, however they say it.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._tables: dict[OperatorName, Table] = {}
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
        if namespace != (HIGHER_ORDER_NAMESPACE if sign else "") or (not sign and any(one in rest for one in "*?[")):
            return ()
        match = matcher(rest).match
        return tuple(one for one in self._view.state.higher_order_operators if one.name == rest or match(one.name))

    def unmatched(self, guard: Guard) -> Iterator[tuple[str, str]]:
        """The globs of a guard that match nothing: the word for what they should match, and the glob."""
        for glob in guard.ops:
            if self._higher_order_matching(glob):
                continue
            if not self._matching(glob) and not any(fnmatchcase(name, glob) for name in self._view.broken):
                yield "operator", glob
        for glob in guard.keys:
            if not self._slots(glob):
                yield "dispatch key", glob

    def broken(self, guard: Guard) -> Iterator[Violation]:
        """Where it is not as a guard wants it."""
        keys = self.keys(guard)
        slots = [self._view.universe.slot[key] for key in keys]
        of_slots = any(want.field in OF_SLOTS for want in guard.wants)
        for name in self.operators(guard):
            if guard.call is not None:
                yield from self._of_call(guard, name, guard.call)
            for want in guard.wants:
                if want.field is GuardField.BACKEND:
                    yield from self._of_backend(guard, name, want)
            if of_slots and not self._all_hold(guard, name, keys, slots):
                yield from self._of_slots(guard, name, keys)
        operators = self.higher_order(guard)
        if operators:
            from dispatch_cli.checks.guarding_higher_order import broken as of_higher_order

            for operator in operators:
                for one in of_higher_order(self._view.state, guard, operator, keys):
                    yield Violation(guard, OperatorName(operator.name), one.keys, one.wanted, one.found, span=one.span)

    def keys(self, guard: Guard) -> tuple[str, ...]:
        """The slots that a guard speaks of, in runtime order."""
        found = self._chosen.get((guard.keys, guard.excepted))
        if found is None:
            chosen = {key for glob in guard.keys for key in self._slots(glob)}
            chosen.difference_update(key for glob in guard.excepted for key in self._slots(glob))
            found = tuple(sorted(chosen, key=self._view.universe.slot.__getitem__))
            self._chosen[guard.keys, guard.excepted] = found
        return found

    def _all_hold(self, guard: Guard, name: OperatorName, keys: tuple[str, ...], slots: list[int]) -> bool:
        """Whether all slots are as a guard wants them, which most are.

        Slots with one decision hold one function, but for fallbacks, so that one of them speaks for all.
        """
        table = self._table(name)
        decisions = table.plan.decisions
        seen: set[object] = set()
        for key, slot in zip(keys, slots, strict=True):
            decision = decisions[slot]
            what = key if decision.rule is Rule.FALLBACK else (decision.rule, decision.source)
            if what not in seen:
                seen.add(what)
                entry = table[key]
                if not all(holds(want, entry, table) for want in guard.wants):
                    return False
        return True

    def _of_slots(self, guard: Guard, name: OperatorName, keys: tuple[str, ...]) -> Iterator[Violation]:
        table = self._table(name)
        found: dict[tuple[str, str], list[str]] = {}
        for key in keys:
            entry = table[key]
            wanted = [wanted_words(want) for want in guard.wants if not holds(want, entry, table)]
            if wanted:
                found.setdefault((" and ".join(wanted), self._found_words(entry)), []).append(key)
        for (text, held), some in found.items():
            yield Violation(guard, name, tuple(some), text, held, table[some[0]])

    def _of_backend(self, guard: Guard, name: OperatorName, want: Expectation) -> Iterator[Violation]:
        entry = self._table(name)[want.texts[0]]
        if entry.rule not in COMPUTING or entry.is_fallthrough:
            yield Violation(guard, name, (entry.key,), wanted_words(want), self._found_words(entry), entry)

    def _of_call(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Iterator[Violation]:
        from dispatch_cli.engine.call.simulate import simulate

        what = call_words(call)
        try:
            done = simulate(self._view.state, name, call.tensors, call.contexts, options=call.options)
        except CallError as error:
            yield Violation(guard, name, (), f"a call with {what}", f"no such call: {error.message}")
            return
        wanted = [wanted_words(want) for want in guard.wants if want.field in OF_CALLS and not call_ends(want, done)]
        if wanted:
            last = done.hops[-1] if done.hops else None
            slots, live = ((last.slot,), last.live) if last is not None else ((), None)
            text = f"{' and '.join(wanted)} from a call with {what}"
            yield Violation(guard, name, slots, text, end_words(done), live)

    def _found_words(self, entry: TableEntry) -> str:
        kernel = entry.kernel
        found = "nothing (missing)"
        if kernel is not None:
            found = f"{'fallthrough ' if entry.is_fallthrough else ''}{kernel.label} by rule {entry.rule.value}"
        blockers = self._view.dispatcher.keys_in(entry.decision.blockers)
        if blockers:
            noun = "kernel" if len(blockers) == 1 else "kernels"
            found += f", because of the {noun} at {', '.join(blockers)}"
        return found

    def _table(self, name: OperatorName) -> Table:
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = self._view.table(name)
        return found

    def _matching(self, glob: str) -> tuple[OperatorName, ...]:
        found = self._found.get(glob)
        if found is None:
            if any(sign in glob for sign in "*?["):
                match = matcher(glob).match
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
        return tuple(key for key in universe.slots if fnmatchcase(key, glob))


def _merged(guards: list[Guard]) -> Guard:
    """Guards that ask for the same as one: the first, with the places and the reasons of all."""
    first, *others = guards
    if not others:
        return first
    reasons = dict.fromkeys(guard.reason for guard in guards if guard.reason is not None)
    places = tuple(guard.span for guard in others if guard.span is not None)
    return first._replace(reason="; ".join(reasons) or None, repeated_at=places)
