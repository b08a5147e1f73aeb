"""Places of a higher-order operator held against a guard: dispatch keys, modes and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dispatch_cli.checks.expectations import OF_SLOTS, Held, holds
from dispatch_cli.checks.text import wanted_words
from dispatch_cli.checks.violation import Violation
from dispatch_cli.engine.call.higher_order.place import AtPlace, answer_at
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.guard import Guard
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.span import Span


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


def broken_places(guard: Guard, keys: Iterable[str], at: Callable[[ImplPlace], Held]) -> Iterator[Violation]:
    """Violations of a guard, by reason. keys: the slots that the guard is about."""
    wants = [want for want in guard.wants if want.field in OF_SLOTS]
    by_reason: dict[tuple[str, str, Span | None], list[str]] = {}
    for place in (*(ImplPlace(ImplKind.DISPATCH, key) for key in keys), *guard.places) if wants else ():
        held = at(place)
        missed = (want for want in wants if not holds(want, held, lambda key: at(ImplPlace(ImplKind.DISPATCH, key))))
        wanted = " and ".join(map(wanted_words, missed))
        if wanted:
            by_reason.setdefault((wanted, held.words, held.span), []).append(place.name)
    for (wanted, words, span), names in by_reason.items():
        yield Violation(tuple(names), wanted, words, None, span)
