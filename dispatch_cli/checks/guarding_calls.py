"""Calls of operators held against guards. A call that several guards speak of is simulated once."""

from __future__ import annotations

from dispatch_cli.checks.expectations import OF_CALLS, call_ends
from dispatch_cli.checks.guarding_budget import OF_HOP, GuardBudget
from dispatch_cli.checks.text import call_words, end_words, wanted_call_words
from dispatch_cli.checks.violation import Violation
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError
from dispatch_cli.model.guard import Guard, GuardedCall
from dispatch_cli.model.names import OperatorName


class GuardedCalls:
    """The calls that the guards of a state speak of."""

    def __init__(self, state: State, budget: GuardBudget) -> None:
        self._state = state
        self._budget = budget
        self._calls: dict[GuardedCall, dict[OperatorName, Call | CallError]] = {}

    def violation(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Violation | None:
        """Violation of the guard by the call of an operator; None where the call is as the guard wants it."""
        done = self._call(guard, name, call)
        if isinstance(done, CallError):
            return Violation((), _refused_words(call), f"cannot be made: {done.message}")
        wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, done)]
        if not wanted:
            return None
        last = done.hops[-1] if done.hops else None
        slots, live = ((last.slot,), last.live) if last is not None else ((), None)
        return Violation(slots, wanted_call_words(wanted, call), end_words(done), live)

    def _call(self, guard: Guard, name: OperatorName, call: GuardedCall) -> Call | CallError:
        calls = self._calls.setdefault(call, {})
        result = calls.get(name)
        if result is None:
            from dispatch_cli.engine.call.simulate import simulate

            try:
                result = simulate(self._state, name, call.tensors, call.contexts, options=call.options)
                self._budget.spend((1 + len(result.hops)) * OF_HOP, guard)
            except CallError as error:
                result = error
                self._budget.spend(OF_HOP, guard)
            calls[name] = result
        return result


def _refused_words(call: GuardedCall) -> str:
    return f"a call with {call_words(call)}"
