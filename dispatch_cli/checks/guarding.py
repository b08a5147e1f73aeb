"""Evaluation of guards: the operators and slots that each is about, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial

from dispatch_cli.checks.cells import Cells
from dispatch_cli.checks.expectations import OF_SLOTS, Held, holds
from dispatch_cli.checks.guarding_budget import OF_BROKEN, OF_COMPARED, OF_OPERATOR, OF_TEXT, GuardBudget
from dispatch_cli.checks.guarding_calls import AnyOperator, GuardedCalls
from dispatch_cli.checks.guarding_higher_order import broken_places, held_at
from dispatch_cli.checks.guarding_slots import GuardedSlots
from dispatch_cli.checks.text import wanted_words
from dispatch_cli.checks.view import View
from dispatch_cli.checks.violation import BrokenOperator, Violation
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.guard import Guard, GuardField
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName


class Guards:
    """The guards of a state, each once, in the order they are declared.

    Guards that ask the same of the same operators and slots count as the first of them, however they say it.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._cells = Cells(view)
        self._budget = GuardBudget()
        self._calls = GuardedCalls(view.state, self._budget)
        self._found: dict[str, tuple[OperatorName, ...]] = {}
        self._operators: dict[tuple[str, ...], tuple[OperatorName, ...]] = {}
        self._slots_of: dict[str, tuple[str, ...]] = {}
        self._chosen: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}

    @cached_property
    def all(self) -> tuple[Guard, ...]:
        """Guards without repetitions; each knows where it is repeated, and has the reasons of all."""
        alike: dict[object, list[Guard]] = {}
        for guard in self._view.state.declarations.guards:
            alike.setdefault(self._meaning(guard), []).append(guard)
        return tuple(_merged(guards) for guards in alike.values())

    def _meaning(self, guard: Guard) -> object:
        """Meaning of a guard, equal for guards that differ in wording, order or reason only."""
        unknown = (glob for glob in guard.keys if not self._slots(glob))
        wants = ((want.field, frozenset(want.texts)) for want in guard.wants)
        places = frozenset(guard.places)
        return frozenset(guard.ops), self.keys(guard), frozenset(unknown), frozenset(wants), guard.call, places

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

    def higher_order(self, guard: Guard) -> tuple[HigherOrderOperator, ...]:
        """The higher-order operators that a guard is about, as far as the view lets it."""
        operators = dict.fromkeys(operator for glob in guard.ops for operator in self._higher_order_matching(glob))
        guarded = self._view.guarded
        return tuple(operator for operator in operators if guarded is None or OperatorName(operator.name) in guarded)

    def _higher_order_matching(self, glob: str) -> tuple[HigherOrderOperator, ...]:
        """Higher-order operators by name, or by a glob that begins with their namespace: ``*`` alone finds none."""
        namespace, sign, rest = glob.rpartition("::")
        if namespace != (HIGHER_ORDER_NAMESPACE if sign else "") or (not sign and is_glob(rest)):
            return ()
        match = glob_pattern(rest).match
        return tuple(item for item in self._view.state.higher_order_operators if item.name == rest or match(item.name))

    def unmatched(self, guard: Guard) -> Iterator[tuple[str, str]]:
        """The globs of a guard that match nothing: the word for what they should match, and the glob."""
        for glob in guard.ops:
            if self._higher_order_matching(glob):
                continue
            if not self._matching(glob):
                yield "operator", glob
        for glob in guard.keys:
            if not self._slots(glob):
                yield "dispatch key", glob

    def broken(self, guard: Guard) -> Iterator[BrokenOperator]:
        """Violations of a guard, operator by operator. Errors: InputError when it is too much work."""
        keys, cells = self.keys(guard), self._cells
        of_slots = any(want.field in OF_SLOTS for want in guard.wants)
        compares = any(want.field is GuardField.SAME_AS for want in guard.wants)
        slots = GuardedSlots(guard, cells, cells.bits(keys))
        for name in self.operators(guard):
            self._budget.spend(OF_COMPARED if compares else OF_OPERATOR, guard)
            others = self._of_whole(guard, name, partial(self._at_slot, name))
            violations = (*others, *(slots.broken(name) if of_slots else ()))
            if violations:
                self._budget.spend(OF_BROKEN, guard)
                yield BrokenOperator(name, violations)
        for operator in self.higher_order(guard):
            self._budget.spend(OF_OPERATOR, guard)
            others = self._of_whole(guard, operator, partial(self._at_key, operator))
            violations = (*others, *broken_places(guard, keys, partial(held_at, self._view.state, operator)))
            if violations:
                yield BrokenOperator(OperatorName(operator.name), violations)

    def _at_slot(self, name: OperatorName, key: str) -> Held:
        table, _ = self._cells.own(name)
        return self._cells.held(table[key])

    def _at_key(self, operator: HigherOrderOperator, key: str) -> Held:
        return held_at(self._view.state, operator, ImplPlace(ImplKind.DISPATCH, key))

    def _of_whole(self, guard: Guard, operator: AnyOperator, at: Callable[[str], Held]) -> Iterator[Violation]:
        """Violations by a call, and by the backends that should have the operator. at: content of a slot."""
        violation = None if guard.call is None else self._calls.violation(guard, operator, guard.call)
        if violation is not None:
            yield violation
        for want in guard.wants:
            if want.field is GuardField.BACKEND and not holds(want, held := at(want.texts[0]), at):
                yield Violation(want.texts, wanted_words(want), held.words, held.entry, held.span)

    def keys(self, guard: Guard) -> tuple[str, ...]:
        """The slots that a guard is about, in runtime order."""
        selected = self._chosen.get((guard.keys, guard.excepted))
        if selected is None:
            chosen = {key for glob in guard.keys for key in self._slots(glob)}
            chosen.difference_update(key for glob in guard.excepted for key in self._slots(glob))
            selected = tuple(sorted(chosen, key=self._view.universe.slot.__getitem__))
            self._chosen[guard.keys, guard.excepted] = selected
        return selected

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

    def _slots(self, glob: str) -> tuple[str, ...]:
        slots = self._slots_of.get(glob)
        if slots is None:
            slots = self._slots_of[glob] = tuple(self._read_slots(glob))
        return slots

    def _read_slots(self, glob: str) -> Iterable[str]:
        universe = self._view.universe
        if universe.is_alias(glob):
            return universe.covered_by(glob)
        if glob in universe.slot:
            return (glob,)
        return filter(glob_pattern(glob).match, universe.slots)


def _merged(guards: list[Guard]) -> Guard:
    """Guards that ask for the same as one: the first, with the places and the reasons of all."""
    first, *others = guards
    if not others:
        return first
    reasons = dict.fromkeys(guard.reason for guard in guards if guard.reason is not None)
    places = tuple(guard.span for guard in others if guard.span is not None)
    return first._replace(reason="; ".join(reasons) or None, repeated_at=places)
