"""Evaluation of guards: the operators and slots that each is about, what it wants there, and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    violations,
)
from dispatch_cli.checks.text import (
    call_words,
    end_words,
    first_line,
    kernel_text,
    wanted_call_words,
    wanted_words,
    without_hint,
)
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.higher_order.place import AtPlace, answer_at
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.calls.call import CallError
from dispatch_cli.model.calls.guard import Guard, GuardedCall, GuardField
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.text.glob import glob_pattern, is_glob

AnyOperator = OperatorName | HigherOrderOperator


def held_at(state: State, operator: HigherOrderOperator, place: ImplPlace) -> Held:
    """Content of a place. At a dispatch key the rule is that of ``resolve_key``; elsewhere, kernel or missing."""
    answer = answer_at(state.higher_order_table(operator), place, state.modes)
    impl, falls_through = answer.impl, answer.found is AtPlace.FALLTHROUGH
    rule = Rule.MISSING if impl is None else Rule.KERNEL
    if answer.decision is not None:
        rule = answer.decision.rule
    if falls_through:
        words = "a fallthrough"
    elif impl is None:
        words = f"nothing ({rule.value}{', not used by higher-order operators' if rule is Rule.FALLBACK else ''})"
    else:
        words = f"{impl.kernel} by rule {rule.value}"
    names = () if impl is None else (impl.kernel,)
    return Held(rule, names, falls_through, impl, words, span=None if impl is None else impl.span)


def call_violation(state: State, guard: Guard, operator: AnyOperator, budget: GuardBudget) -> Violation | None:
    """Violation of a guard by the call of an operator; None where the call is as the guard wants it, or there is none.

    Errors: InputError when the calls are too much work.
    """
    call = guard.call
    if call is None:
        return None
    budget.spend(OF_HOP, guard)
    try:
        simulated = _simulated(state, operator, call)
    except CallError as error:
        return Violation((), f"a call with {call_words(call)}", f"cannot be made: {error.message}")
    budget.spend(len(simulated.hops) * OF_HOP, guard)
    ended = _ended(simulated)
    wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, ended)]
    if not wanted:
        return None
    slots = () if ended.key is None else (ended.key,)
    return Violation(slots, wanted_call_words(wanted, call), ended.words, ended.entry, ended.span)


def _simulated(state: State, operator: AnyOperator, call: GuardedCall) -> Call | HigherOrderCall:
    """The call. Errors: CallError where it cannot be made."""
    if isinstance(operator, OperatorName):
        from dispatch_cli.engine.call.simulate import simulate

        return simulate(state, operator, call.tensors, call.contexts, options=call.options)
    from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order

    if call.options.given:
        raise CallError("a higher-order operator has no schema", str(call.options))
    return simulate_higher_order(state, operator, call.tensors, call.contexts)


def _ended(call: Call | HigherOrderCall) -> Ended:
    end = call.end
    is_error = end.kind is EndKind.ERROR
    error = None if end.error is None else first_line(end.error.text)
    if isinstance(call, Call):
        last = call.hops[-1] if call.hops else None
        ran = None if last is None or is_error else kernel_text(call)
        key, entry = (None, None) if last is None else (last.slot, last.live)
        return Ended(end.kind, ran, key, error, end_words(call), entry)
    hop = call.hops[-1]
    kernel, span = (None, None) if hop.impl is None else (hop.impl.kernel, hop.impl.span)
    words = f"ends in {kernel or 'nothing'} at {hop.key}"
    if error is not None:
        words = f"raises {without_hint(error)}"
    elif end.handler is not None:
        words = f"ends in the {end.handler.kind.value} {end.handler.name}"
    return Ended(end.kind, None if is_error else kernel, hop.key, error, words, span=span)


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
        for operator in self.higher_order(guard):
            if broken := tuple(self._of_higher_order(guard, operator)):
                yield OperatorName(operator.name), broken

    def _of_operator(self, guard: Guard, name: OperatorName, slots: int) -> Iterator[Violation]:
        """Violations by an operator. slots: those that the guard is about, as bits."""
        table, cells = self._cells.of(name)

        def at(key: str) -> Held:
            return self._cells.held(table[key])

        yield from self._of_whole(guard, name, at)
        wants = [want for want in guard.wants if want.field in OF_SLOTS]
        places = ((held, bits) for part, held in cells if wants and (bits := part & slots))
        yield from violations(wants, places, at, lambda parts: self._cells.keys(sum(parts)))

    def _of_higher_order(self, guard: Guard, operator: HigherOrderOperator) -> Iterator[Violation]:
        def at(place: ImplPlace) -> Held:
            return held_at(self._view.state, operator, place)

        def at_key(key: str) -> Held:
            return at(ImplPlace(ImplKind.DISPATCH, key))

        yield from self._of_whole(guard, operator, at_key)
        wants = [want for want in guard.wants if want.field in OF_SLOTS]
        places = (*(ImplPlace(ImplKind.DISPATCH, key) for key in self.keys(guard)), *guard.places) if wants else ()
        yield from violations(wants, ((at(place), place.name) for place in places), at_key, tuple)

    def _of_whole(self, guard: Guard, operator: AnyOperator, at: Callable[[str], Held]) -> Iterator[Violation]:
        """Violations by a call, and by the backends that should have the operator. at: content of a slot."""
        self._budget.spend(OF_OPERATOR, guard)
        violation = call_violation(self._view.state, guard, operator, self._budget)
        if violation is not None:
            yield violation
        for want in guard.wants:
            if want.field is GuardField.BACKEND and not holds(want, held := at(want.texts[0]), at):
                yield Violation(want.texts, wanted_words(want), held.words, held.entry, held.span)

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
