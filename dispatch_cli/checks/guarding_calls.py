"""Calls of operators of either kind held against guards. A call that several guards speak of is simulated once."""

from __future__ import annotations

from dispatch_cli.checks.expectations import OF_CALLS, Ended, call_ends
from dispatch_cli.checks.guarding_budget import OF_HOP, GuardBudget
from dispatch_cli.checks.text import call_words, end_words, first_line, kernel_text, wanted_call_words, without_hint
from dispatch_cli.checks.violation import Violation
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError
from dispatch_cli.model.guard import Guard, GuardedCall
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName

AnyOperator = OperatorName | HigherOrderOperator


class GuardedCalls:
    """The calls that the guards of a state speak of."""

    def __init__(self, state: State, budget: GuardBudget) -> None:
        self._state = state
        self._budget = budget
        self._calls: dict[GuardedCall, dict[AnyOperator, Ended | CallError]] = {}

    def violation(self, guard: Guard, operator: AnyOperator, call: GuardedCall) -> Violation | None:
        """Violation of the guard by the call of an operator; None where the call is as the guard wants it."""
        ended = self._ended(guard, operator, call)
        if isinstance(ended, CallError):
            return Violation((), f"a call with {call_words(call)}", f"cannot be made: {ended.message}")
        wanted = [want for want in guard.wants if want.field in OF_CALLS and not call_ends(want, ended)]
        if not wanted:
            return None
        slots = () if ended.key is None else (ended.key,)
        return Violation(slots, wanted_call_words(wanted, call), ended.words, ended.entry, ended.span)

    def _ended(self, guard: Guard, operator: AnyOperator, call: GuardedCall) -> Ended | CallError:
        calls = self._calls.setdefault(call, {})
        result = calls.get(operator)
        if result is None:
            hops = 0
            try:
                simulated = self._simulated(operator, call)
                hops, result = len(simulated.hops), _ended(simulated)
            except CallError as error:
                result = error
            self._budget.spend((1 + hops) * OF_HOP, guard)
            calls[operator] = result
        return result

    def _simulated(self, operator: AnyOperator, call: GuardedCall) -> Call | HigherOrderCall:
        """The call. Errors: CallError where it cannot be made."""
        if isinstance(operator, OperatorName):
            from dispatch_cli.engine.call.simulate import simulate

            return simulate(self._state, operator, call.tensors, call.contexts, options=call.options)
        from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order

        if call.options.given:
            raise CallError("a higher-order operator has no schema", str(call.options))
        return simulate_higher_order(self._state, operator, call.tensors, call.contexts)


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
