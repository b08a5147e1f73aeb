"""Evaluation of a guard for a higher-order operator: at dispatch keys, modes and so on, and of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.checks.expectations import COMPUTING, OF_CALLS, OF_SLOTS, matches
from dispatch_cli.checks.text import call_words, first_line, wanted_call_words, wanted_words, without_hint
from dispatch_cli.engine.call.higher_order.place import AtPlace, PlaceAnswer, answer_at
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.call import CallError
from dispatch_cli.model.guard import Expectation, Guard, GuardedCall, GuardField
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.span import Span


class HigherOrderViolation(NamedTuple):
    """Violation of a guard by a higher-order operator; the fields are those of `Violation`."""

    keys: tuple[str, ...]
    wanted: str
    found: str
    span: Span | None = None


class _Held(NamedTuple):
    """Content of a place, as a guard sees it. rule: of modes and so on, `Rule.KERNEL` or `Rule.MISSING`."""

    rule: Rule
    impl: HigherOrderImpl | None
    falls_through: bool

    @property
    def words(self) -> str:
        """The same in a sentence."""
        if self.falls_through:
            return "a fallthrough"
        if self.impl is None:
            unused = ", not used by higher-order operators" if self.rule is Rule.FALLBACK else ""
            return f"nothing ({self.rule.value}{unused})"
        return f"{self.impl.kernel} by rule {self.rule.value}"


def broken(
    state: State, guard: Guard, operator: HigherOrderOperator, keys: Iterable[str]
) -> Iterator[HigherOrderViolation]:
    """Violations of a guard by a higher-order operator. keys: the slots that the guard is about."""
    if guard.call is not None:
        yield from _of_call(state, guard, operator, guard.call)
    for want in guard.wants:
        if want.field is GuardField.BACKEND:
            held = _held(state, operator, ImplPlace(ImplKind.DISPATCH, want.texts[0]))
            if held.impl is None or held.rule not in COMPUTING or held.falls_through:
                yield HigherOrderViolation(want.texts, wanted_words(want), held.words, _span(held))
    wants = [want for want in guard.wants if want.field in OF_SLOTS]
    broken_places: dict[tuple[str, str, Span | None], list[str]] = {}
    for place in (*(ImplPlace(ImplKind.DISPATCH, key) for key in keys), *guard.places) if wants else ():
        held = _held(state, operator, place)
        wanted = [wanted_words(want) for want in wants if not _holds(state, operator, want, held)]
        if wanted:
            broken_places.setdefault((" and ".join(wanted), held.words, _span(held)), []).append(place.name)
    for (text, words, span), names in broken_places.items():
        yield HigherOrderViolation(tuple(names), text, words, span)


def held_rule(answer: PlaceAnswer) -> Rule:
    """The rule of a place: of a dispatch key, what ``resolve_key`` decides."""
    if answer.decision is not None:
        return answer.decision.rule
    return Rule.KERNEL if answer.impl is not None else Rule.MISSING


def _held(state: State, operator: HigherOrderOperator, place: ImplPlace) -> _Held:
    answer = answer_at(state.higher_order_table(operator), place, state.modes)
    return _Held(held_rule(answer), answer.impl, answer.found is AtPlace.FALLTHROUGH)


def _span(held: _Held) -> Span | None:
    return None if held.impl is None else held.impl.span


def _holds(state: State, operator: HigherOrderOperator, want: Expectation, held: _Held) -> bool:
    texts, kernel = want.texts, None if held.impl is None else held.impl.kernel
    match want.field:
        case GuardField.RULE:
            return held.rule.value in texts
        case GuardField.NOT:
            return held.rule.value not in texts
        case GuardField.KERNEL:
            return kernel is not None and matches(kernel, texts)
        case GuardField.NOT_KERNEL:
            return kernel is None or not matches(kernel, texts)
        case GuardField.FALLTHROUGH:
            return held.falls_through is (texts[0] == "true")
        case _:
            other = _held(state, operator, ImplPlace(ImplKind.DISPATCH, texts[0]))
            return other.impl == held.impl


def _of_call(
    state: State, guard: Guard, operator: HigherOrderOperator, call: GuardedCall
) -> Iterator[HigherOrderViolation]:
    what = f"a call with {call_words(call)}"
    if call.options.given:
        yield HigherOrderViolation((), what, "cannot be made: a higher-order operator has no schema")
        return
    try:
        done = simulate_higher_order(state, operator, call.tensors, call.contexts)
    except CallError as error:
        yield HigherOrderViolation((), what, f"cannot be made: {error.message}")
        return
    wanted = [want for want in guard.wants if want.field in OF_CALLS and not _ends(want, done)]
    if wanted:
        impl = done.hops[-1].impl
        span = None if impl is None else impl.span
        yield HigherOrderViolation((done.hops[-1].key,), wanted_call_words(wanted, call), _end_words(done), span)


def _ends(want: Expectation, call: HigherOrderCall) -> bool:
    last, error = call.hops[-1], call.end.error
    match want.field:
        case GuardField.END:
            return call.end.kind.value in want.texts
        case GuardField.RAN:
            return (
                call.end.kind is not EndKind.ERROR and last.impl is not None and matches(last.impl.kernel, want.texts)
            )
        case GuardField.AT:
            return last.key in want.texts
        case _:
            return error is not None and matches(first_line(error.text), want.texts)


def _end_words(call: HigherOrderCall) -> str:
    last, end = call.hops[-1], call.end
    if end.error is not None:
        return f"raises {without_hint(first_line(end.error.text))}"
    if end.handler is not None:
        return f"ends in the {end.handler.kind.value} {end.handler.name}"
    return f"ends in {last.impl.kernel if last.impl is not None else 'nothing'} at {last.key}"
