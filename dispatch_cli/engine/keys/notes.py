"""Notes on key sets that are not what one would expect of a set of keys."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.named_sets import COMPONENT, components_of, functionalities_of


class ExpressionNoteKind(Enum):
    """Kind of surprise in an expression."""

    ADDS_NOTHING = "adds-nothing"
    """Alias keys and Undefined have no bits."""
    BACKENDS_STAY = "backends-stay"
    """A difference keeps backend bits."""
    OTHERS_GO = "others-go"
    """A difference takes a functionality away from every backend."""
    CROSS_PRODUCT = "cross-product"
    """A union contains keys that none of its parts does."""
    NO_FUNCTIONALITY = "no-functionality"
    """Backend bits without a functionality name no key."""
    NO_BACKEND = "no-backend"
    """A per-backend functionality without a backend bit names no key."""


class ExpressionNote(NamedTuple):
    """A note and the keys it is about."""

    kind: ExpressionNoteKind
    keys: tuple[str, ...]


def notes_of_difference(
    left: DispatchKeySet, right: DispatchKeySet, result: DispatchKeySet
) -> Iterator[ExpressionNote]:
    """Notes on where *result*, which is left - right, is not what the keys of the two would leave."""
    if result == left:
        return
    universe = left.layout.universe
    parts, functionalities = universe.runtime_parts, functionalities_of(right)
    components = {name.removesuffix(COMPONENT) for name in components_of(right)}
    expected = [
        key
        for key in left
        if parts[key][0] not in functionalities or (components and parts[key][1] not in {*components, None})
    ]
    closed = DispatchKeySet.of(universe, expected)
    extra = DispatchKeySet(left.layout, result.bits & ~closed.bits)
    yield ExpressionNote(ExpressionNoteKind.BACKENDS_STAY, components_of(extra))
    yield ExpressionNote(ExpressionNoteKind.OTHERS_GO, tuple(key for key in expected if not result.has(key)))


def notes_of_loose_bits(keys: DispatchKeySet) -> Iterator[ExpressionNote]:
    """Bits that stand for no key because their other half is not there."""
    universe = keys.layout.universe
    per_backend = tuple(name for name in functionalities_of(keys) if name in universe.per_backend)
    components = components_of(keys)
    if components and not per_backend:
        yield ExpressionNote(ExpressionNoteKind.NO_FUNCTIONALITY, components)
    if per_backend and not components:
        yield ExpressionNote(ExpressionNoteKind.NO_BACKEND, per_backend)
