"""Calls of operators held against guards. A call that several guards speak of is simulated once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dispatch_cli.checks.expectations import OF_CALLS, call_ends
from dispatch_cli.checks.guarding_budget import OF_HOP, OF_TEXT, GuardBudget
from dispatch_cli.checks.text import call_words, end_words, first_line, kernel_text, wanted_call_words
from dispatch_cli.checks.violation import Tally, Violation
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.guard import Guard, GuardedCall, GuardField
from dispatch_cli.model.names import OperatorName


class _CallEnds(NamedTuple):
    """Operators by how one call of each ends. refused: those that cannot be called so. made: how many can be, and it is
    known how that ends.

    by_text: for each field that guards can ask for, what it is and the operators with that; None where it is not there.
    """

    refused: list[str]
    made: int
    by_text: dict[GuardField, dict[str | None, list[str]]]


class GuardedCalls:
    """The calls that the guards of a state speak of."""

    def __init__(self, state: State, budget: GuardBudget) -> None:
        self._state = state
        self._budget = budget
        self._calls: dict[GuardedCall, dict[OperatorName, Call | CallError]] = {}
        self._ends: dict[tuple[GuardedCall, tuple[str, ...]], _CallEnds] = {}

    def violation(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Violation | None:
        """How the call of an operator is not as the guard wants it; None where it is."""
        done = self._call(guard, name, call)
        if isinstance(done, CallError):
            return Violation((), _refused_words(call), f"cannot be made: {done.message}")
        wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, done)]
        if not wanted:
            return None
        last = done.hops[-1] if done.hops else None
        slots, live = ((last.slot,), last.live) if last is not None else ((), None)
        return Violation(slots, wanted_call_words(wanted, call), end_words(done), live)

    def tally(self, guard: Guard, names: Sequence[OperatorName], call: GuardedCall) -> Tally | None:
        """How often a guard with one expectation does not hold; None where that cannot be counted."""
        if len(guard.wants) != 1 or guard.wants[0].field not in OF_CALLS:
            return None
        want = guard.wants[0]
        ends = self._ends_of(guard, names, call)
        found = ends.by_text[want.field]
        there = {text for text in want.texts if text in found}
        if want.field in (GuardField.RAN, GuardField.ERROR):
            for glob in filter(is_glob, want.texts):
                self._budget.spend(len(found) * OF_TEXT, guard)
                match = glob_pattern(glob).match
                there.update(text for text in found if text is not None and match(text))
        missing = ends.made - sum(len(found[text]) for text in there)
        reasons = {
            f"the guard requires {_refused_words(call)}": len(ends.refused),
            f"the guard requires {wanted_call_words([want], call)}": missing,
        }
        operators = partial(_operators, ends, want.field, there)
        return Tally({reason: count for reason, count in reasons.items() if count}, operators)

    def _ends_of(self, guard: Guard, names: Sequence[OperatorName], call: GuardedCall) -> _CallEnds:
        found = self._ends.get((call, guard.ops))
        if found is None:
            unknown = 0
            refused, by_text = list[str](), {field: dict[str | None, list[str]]() for field in OF_CALLS}
            for name in names:
                done = self._call(guard, name, call)
                if isinstance(done, CallError):
                    refused.append(str(name))
                    continue
                if done.end.kind is EndKind.NOT_KNOWN:
                    unknown += 1
                    continue
                for field, text in _facts(done).items():
                    by_text[field].setdefault(text, []).append(str(name))
            found = self._ends[call, guard.ops] = _CallEnds(refused, len(names) - len(refused) - unknown, by_text)
        return found

    def _call(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Call | CallError:
        calls = self._calls.setdefault(call, {})
        found = calls.get(name)
        if found is None:
            from dispatch_cli.engine.call.simulate import simulate

            try:
                found = simulate(self._state, name, call.tensors, call.contexts, options=call.options)
                self._budget.spend((1 + len(found.hops)) * OF_HOP, guard)
            except CallError as error:
                found = error
                self._budget.spend(OF_HOP, guard)
            calls[name] = found
        return found


def _operators(ends: _CallEnds, field: GuardField, there: set[str]) -> Mapping[str, int]:
    """Those that cannot be called, or whose calls are not among *there*; each has one call."""
    found = Counter(ends.refused)
    for text, names in ends.by_text[field].items():
        if text not in there:
            found.update(names)
    return found


def _refused_words(call: GuardedCall) -> str:
    return f"a call with {call_words(call)}"


def _facts(call: Call) -> dict[GuardField, str | None]:
    """What a call has of each field that guards can ask for, as `call_ends` sees it."""
    last = call.hops[-1] if call.hops else None
    ran = last is not None and call.end.kind is not EndKind.ERROR
    error = call.end.error
    return {
        GuardField.END: call.end.kind.value,
        GuardField.RAN: kernel_text(call) if ran else None,
        GuardField.AT: None if last is None else last.slot,
        GuardField.ERROR: None if error is None else first_line(error.text),
    }
