"""The slots that the files' changes of earlier registrations emptied: a call got on there before, and fails now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from dispatch_cli.checks.compared import with_and_without
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.text import backend_keys
from dispatch_cli.checks.view import View
from dispatch_cli.engine.keys.autograd import autograd_keys_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.hazards import comes_from_tensors_only
from dispatch_cli.model.declarations import OwnChange
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD, Universe


class EmptiedSlots(NamedTuple):
    """operators: those whose own registrations are changed, with the keys of the slots, in table order.

    fallbacks: the keys of fallbacks that are left out, with the operators that have nothing there, by name.
    slots: all of them: names of operators, and keys.
    """

    operators: Mapping[OperatorName, tuple[str, ...]]
    fallbacks: Mapping[str, tuple[OperatorName, ...]]
    slots: frozenset[tuple[str, str]]


_EMPTIED: WeakKeyDictionary[View, EmptiedSlots] = WeakKeyDictionary()


def emptied_slots(view: View) -> EmptiedSlots:
    """The slots that the changes emptied, of the operators that they concern; worked out once."""
    after, before = with_and_without(view)
    emptied = _EMPTIED.get(after)
    if emptied is None:
        emptied = _EMPTIED[after] = _between(before, after, view.changes)
    return emptied


def _between(before: View, after: View, changes: Iterable[OwnChange]) -> EmptiedSlots:
    changed = {change.operator for change in changes}
    fallbacks = {change.key for change in changes if change.operator is None}
    of_operators: dict[OperatorName, tuple[str, ...]] = {}
    of_fallbacks: dict[str, list[OperatorName]] = {}
    slots: list[tuple[str, str]] = []
    known: dict[tuple[object, ...], tuple[str, ...]] = {}
    for name in after.operators:
        if (name not in changed and not fallbacks) or after.schema_text(name) is None:
            continue
        now, earlier = after.pattern(name), before.pattern(name)
        shapes = now.registered, now.fallthrough, earlier.registered, earlier.fallthrough
        keys = known.get(shapes)
        if keys is None:
            keys = known[shapes] = _emptied(after, before, now, earlier)
        if keys and after.takes_tensors(name) is False:
            keys = tuple(key for key in keys if not comes_from_tensors_only(after.universe, key))
        for key in keys:
            if key in fallbacks and earlier.rule(key) is Rule.FALLBACK:
                of_fallbacks.setdefault(key, []).append(name)
            elif name in changed:
                of_operators[name] = (*of_operators.get(name, ()), key)
            else:
                continue
            slots.append((str(name), key))
    return EmptiedSlots(of_operators, {key: tuple(names) for key, names in of_fallbacks.items()}, frozenset(slots))


def _emptied(after: View, before: View, now: Pattern, earlier: Pattern) -> tuple[str, ...]:
    """The keys of the slots where a call got on with one pattern, and fails with the other."""
    below = _below_autograd(after.universe)

    def is_reached(key: str) -> bool:
        """True if calls got past an autograd key; not where a default kernel is below one that has no fallback."""
        has_fallback = key in before.dispatcher.fallbacks
        return any(
            _gets_on(before, earlier, backend) and (has_fallback or now.rule(backend) is not Rule.DEFAULT)
            for backend in below[key]
        )

    return tuple(
        key
        for key in after.universe.slots
        if _is_empty(after, now, key) and _gets_on(before, earlier, key) and (key not in below or is_reached(key))
    )


def _is_empty(view: View, pattern: Pattern, key: str) -> bool:
    """True if nothing is there; PyTorch's own fallback at a backend key, such as Meta, raises."""
    rule = pattern.rule(key)
    is_error = rule is Rule.FALLBACK and view.dispatcher.fallbacks[key].kernel.span is None
    return rule is Rule.MISSING or (is_error and key in backend_keys(view.universe))


def _gets_on(view: View, pattern: Pattern, key: str) -> bool:
    return not _is_empty(view, pattern, key) and pattern.rule(key) not in (Rule.NOT_KNOWN, Rule.AMBIGUOUS)


@lru_cache(maxsize=8)
def _below_autograd(universe: Universe) -> Mapping[str, tuple[str, ...]]:
    """The backend keys whose tensors carry each autograd key."""
    backends: dict[str, tuple[str, ...]] = dict.fromkeys(universe.covered_by(AUTOGRAD), ())
    for backend in backend_keys(universe):
        for key in autograd_keys_of(universe, backend):
            backends[key] = (*backends[key], backend)
    return backends
