"""Calls that go past a kernel that is there: questions about an operator's whole table, for checks and notes.

Each takes the universe, the keys at which the operator has a kernel, and how the slots are decided. Nothing here
decides a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dispatch_cli.engine.keys.autograd import autograd_key_of, autograd_keys_of
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.model.universe import AUTOGRAD, UNDEFINED, Universe

Decide = Callable[[str], Decision]
"""Function from a runtime key or Undefined to the decision of its slot."""


def bypassed(
    universe: Universe, keys: Iterable[str], decide: Decide, falls_through: Callable[[str], bool]
) -> Mapping[str, tuple[str, ...]]:
    """The backend keys whose kernels a math kernel at an autograd key above keeps calls from, by that autograd key.

    The math kernel gives way to the kernels of `Universe.autograd_backends` alone. Tensors of other keys carry the same
    autograd key: sparse and quantized ones, and those of MTIA, of which AutogradMTIA knows nothing.
    falls_through: whether dispatch skips a slot.
    """
    backends: dict[str, tuple[str, ...]] = {}
    for key in keys:
        above = next((slot for slot in autograd_keys_of(universe, key) if not falls_through(slot)), None)
        if above is not None and decide(above).rule is Rule.MATH:
            backends[above] = (*backends.get(above, ()), key)
    return backends


def displaced(universe: Universe, decide: Decide) -> Mapping[str, Decision]:
    """The autograd keys that backend kernels take from the math kernel, with no other kernel of the operator there.

    With each, its decision: a fallback or nothing, and the culprits (`Decision.blockers`).
    """
    decisions = ((key, decide(key)) for key in universe.covered_by(AUTOGRAD))
    return {
        key: decision
        for key, decision in decisions
        if decision.blockers and decision.rule in (Rule.FALLBACK, Rule.MISSING)
    }


def unreachable_without_tensors(
    universe: Universe, keys: Iterable[str], decide: Decide, falls_through: Callable[[str], bool]
) -> tuple[str, ...]:
    """The keys whose kernels no call without tensors gets to, where such a call ends at an empty Undefined.

    Its key set is what every call has; where all of that falls through, the Undefined slot decides.
    """
    included = (key for key in universe.default_included if key in universe.slot)
    if decide(UNDEFINED).rule is not Rule.MISSING or not all(map(falls_through, included)):
        return ()
    return tuple(key for key in keys if comes_from_tensors_only(universe, key))


def comes_from_tensors_only(universe: Universe, key: str) -> bool:
    """True if a runtime key comes from tensors alone: a backend's, or an autograd key. Modes bring others: Tracer."""
    if universe.is_alias(key) or key not in universe.slot:
        return False
    return autograd_key_of(universe, key) is not None or key in universe.covered_by(AUTOGRAD)
