"""Differences between two universes, as far as they can make a dispatcher of theirs behave differently.

Names of builds and the source lines of core fallbacks do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.universe import UNDEFINED, TorchLibrary, Universe


class Aspect(Enum):
    """Aspect in which a key differs, in the order in which differences are listed."""

    KEY = "key"
    BACKEND = "backend"
    PRIORITY = "priority"
    BACKEND_ORDER = "backend-order"
    COVERAGE = "coverage"
    AUTOGRAD_BACKENDS = "autograd-backends"
    AUTOGRADOTHER = "autogradother"
    REFRESHES = "refreshes"
    FALLBACK = "fallback"
    PARSER = "parser"
    DEVICE = "device"
    INCLUDED = "included"
    EXCLUDED = "excluded"
    FULL_AFTER = "full-after"
    AFTER_AUTOGRAD = "after-autograd"
    AFTER_AD_INPLACE_OR_VIEW = "after-ad-inplace-or-view"
    HIGHER_ORDER_FALLTHROUGH = "higher-order-fallthrough"
    WRAPPED = "wrapped"
    PLAIN_DEVICES = "plain-devices"
    MASK_BY_ARGUMENTS = "mask-by-arguments"
    GRAD_ENDS_INFERENCE = "grad-ends-inference"
    OTHER = "other"
    """A field of a universe that no other aspect is about; the subject is its name."""
    ID = "id"


class KeyKind(Enum):
    """Kind of a key."""

    RUNTIME = "runtime key"
    ALIAS = "alias key"
    FUNCTIONALITY = "functionality"
    BACKEND = "backend component"
    UNDEFINED = "undefined"


class UniverseDifference(NamedTuple):
    """One difference.

    subject: the key, device or set that it is about; empty where the aspect says all. one, other: what only the one
    and only the other universe has there. For an order: the key that comes next below among those that both have.
    """

    aspect: Aspect
    subject: str
    one: tuple[str, ...]
    other: tuple[str, ...]


def kind_of(universe: Universe, key: str) -> KeyKind | None:
    """Kind of *key* in *universe*; None when it is no key there."""
    if key == UNDEFINED:
        return KeyKind.UNDEFINED
    if key in universe.slot:
        return KeyKind.RUNTIME
    if key in universe.aliases:
        return KeyKind.ALIAS
    return KeyKind.FUNCTIONALITY if key in universe.ids else None


_FIELDS = {
    Aspect.INCLUDED: "default_included",
    Aspect.EXCLUDED: "default_excluded",
    Aspect.FULL_AFTER: "full_after_always",
    Aspect.AFTER_AUTOGRAD: "after_autograd",
    Aspect.AFTER_AD_INPLACE_OR_VIEW: "after_ADInplaceOrView",
    Aspect.HIGHER_ORDER_FALLTHROUGH: "higher_order_fallthrough",
    Aspect.WRAPPED: "wrapped",
    Aspect.PLAIN_DEVICES: "plain_devices",
    Aspect.MASK_BY_ARGUMENTS: "mask_by_arguments",
    Aspect.GRAD_ENDS_INFERENCE: "grad_ends_inference",
}
"""The fields of a universe that are compared as they are."""
_COMPARED = frozenset(
    (
        *_FIELDS.values(),
        *("name", "torch", "git", "functionalities", "backends", "per_backend", "runtime", "aliases", "ids"),
        *(
            "autograd_backends",
            "autogradother_backends",
            "refreshes",
            "fallbacks",
            "parseable",
            "devices",
            "torch_library",
            "higher_order_calls",
        ),
    )
)
"""The fields that an aspect of their own is about, or that do not count."""
_PLACES = ("custom_op", "fake")
"""Fields that name lines of PyTorch's sources, which are no difference; nor are the values of ``functions``."""


_HIGHER_ORDER = ("modes_handle", "fakes_by_mode")
"""Fields for calls of higher-order operators; the words of their errors are no difference."""


def universe_differences(one: Universe, other: Universe) -> tuple[UniverseDifference, ...]:
    """Every difference, by aspect and within it in the order of the keys; empty when there is none."""
    return tuple(_differences(one, other))


def _differences(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    yield from _keys(one, other)
    yield from _sets(Aspect.BACKEND, "", one.backends, other.backends)
    yield from _order(Aspect.PRIORITY, one.functionalities, other.functionalities)
    yield from _order(Aspect.BACKEND_ORDER, one.backends, other.backends)
    yield from _mappings(Aspect.COVERAGE, one.aliases, other.aliases, only_common=True)
    yield from _mappings(Aspect.AUTOGRAD_BACKENDS, one.autograd_backends, other.autograd_backends)
    yield from _sets(Aspect.AUTOGRADOTHER, "", one.autogradother_backends, other.autogradother_backends)
    yield from _refreshes(one, other)
    yield from _fallbacks(one, other)
    yield from _parser(one, other)
    yield from _devices(one, other)
    for aspect, name in _FIELDS.items():
        yield from _sets(aspect, "", _texts(getattr(one, name)), _texts(getattr(other, name)))
    for field in fields(Universe):
        if field.name not in _COMPARED:
            first, second = getattr(one, field.name), getattr(other, field.name)
            yield from _sets(Aspect.OTHER, field.name, _texts(first), _texts(second))
    for name in TorchLibrary._fields:
        if name not in _PLACES:
            values = [getattr(universe.torch_library, name, ()) for universe in (one, other)]
            first, second = (_texts(tuple(value) if name == "functions" else value) for value in values)
            yield from _sets(Aspect.OTHER, f"torch_library.{name}", first, second)
    for name in _HIGHER_ORDER:
        first, second = (_texts(getattr(universe.higher_order_calls, name)) for universe in (one, other))
        yield from _sets(Aspect.OTHER, f"higher_order_calls.{name}", first, second)
    for key in _common(one.keys_by_id, other.ids):
        if one.ids[key] != other.ids[key]:
            yield UniverseDifference(Aspect.ID, key, (str(one.ids[key]),), (str(other.ids[key]),))


def _keys(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    """Keys that only one has, or that are of another kind or made of other parts."""
    for key in dict.fromkeys((*one.keys_by_id, *other.keys_by_id)):
        first, second = _nature(one, key), _nature(other, key)
        if first != second:
            yield UniverseDifference(Aspect.KEY, key, first, second)


def _nature(universe: Universe, key: str) -> tuple[str, ...]:
    kind = kind_of(universe, key)
    if kind is None:
        return ()
    functionality, backend = universe.runtime_parts.get(key, (key, None))
    return (kind.value,) if backend is None else (kind.value, functionality, backend)


def _sets(aspect: Aspect, subject: str, one: Sequence[str], other: Sequence[str]) -> Iterator[UniverseDifference]:
    first, second = set(one), set(other)
    if first != second:
        only_one = tuple(key for key in one if key not in second)
        only_other = tuple(key for key in other if key not in first)
        yield UniverseDifference(aspect, subject, only_one, only_other)


def _mappings(
    aspect: Aspect, one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]], only_common: bool = False
) -> Iterator[UniverseDifference]:
    """Differences of the sets behind each key. only_common: a key that one of the two lacks is said elsewhere."""
    for key in dict.fromkeys((*one, *other)):
        if only_common and not (key in one and key in other):
            continue
        yield from _sets(aspect, key, one.get(key, ()), other.get(key, ()))


def _refreshes(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    """Differences at keys that both have; a new slot alone, which its alias recomputes too, is no difference."""
    for key in _common(one.keys_by_id, other.ids):
        first, second = one.refreshed_by(key), other.refreshed_by(key)
        if set(_common(first, other.slot)) != set(_common(second, one.slot)):
            yield from _sets(Aspect.REFRESHES, key, first, second)


def _fallbacks(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    first, second = ({core.key: core.fallthrough for core in universe.fallbacks} for universe in (one, other))
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            yield UniverseDifference(Aspect.FALLBACK, key, _fallback(first.get(key)), _fallback(second.get(key)))


def _fallback(fallthrough: bool | None) -> tuple[str, ...]:
    return () if fallthrough is None else ("fallthrough" if fallthrough else "kernel",)


def _parser(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    """Among the keys that both have."""
    shared = _common(one.keys_by_id, other.ids)
    known, known_to_other = ([key for key in shared if key in universe.parseable] for universe in (one, other))
    yield from _sets(Aspect.PARSER, "", known, known_to_other)


def _devices(one: Universe, other: Universe) -> Iterator[UniverseDifference]:
    for device in dict.fromkeys((*one.devices, *other.devices)):
        first, second = ((universe.devices[device],) if device in universe.devices else () for universe in (one, other))
        if first != second:
            yield UniverseDifference(Aspect.DEVICE, device, first, second)


def _order(aspect: Aspect, one: Sequence[str], other: Sequence[str]) -> Iterator[UniverseDifference]:
    """The fewest keys whose move makes the one order of common keys the other."""
    first, second = _common(one, frozenset(other)), _common(other, frozenset(one))
    if first == second:
        return
    place = {key: i for i, key in enumerate(second)}
    stay = _longest_rising([place[key] for key in first])
    for position, key in enumerate(first):
        if place[key] not in stay:
            yield UniverseDifference(aspect, key, first[:position][-1:], second[: place[key]][-1:])


def _longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """A longest rising subsequence of some different numbers; the quadratic way, which is quick for so few."""
    best: list[tuple[int, ...]] = []
    longest: tuple[int, ...] = ()
    for number in numbers:
        before: tuple[int, ...] = ()
        for chain in best:
            if chain[-1] < number and len(chain) > len(before):
                before = chain
        best.append((*before, number))
        longest = max(longest, best[-1], key=len)
    return frozenset(longest)


def _common(keys: Sequence[str], others: Mapping[str, object] | frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key in others)


def _texts(value: object) -> tuple[str, ...]:
    """A field's value as texts: of a set or a mapping each item, of anything else itself."""
    if isinstance(value, Mapping):
        return tuple(f"{key}: {item}" for key, item in value.items())
    if isinstance(value, (tuple, frozenset)):
        return tuple(sorted(map(str, value)) if isinstance(value, frozenset) else map(str, value))
    return (("yes" if value else "no") if isinstance(value, bool) else str(value),)
