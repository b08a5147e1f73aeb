"""Consistency of a universe: everything that the engine takes for granted about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    AUTOGRAD,
    AUTOGRAD_OTHER,
    CATCH_ALL,
    EXPLICIT,
    PRIVATE_USE1,
    UNDEFINED,
    UNNAMED_BACKEND,
    Universe,
)

DENSE = "Dense"
"""The functionality after whose keys backends are named."""
MAX_BITS = 64
"""A set of keys is a 64-bit number: a bit per functionality, with Undefined, and per backend, as
``c10/core/DispatchKey.h`` asserts."""
MOST = {"backends": 16, "per_backend": 16}
"""Keys that fields can have: ``c10/core/DispatchKeySet.h`` has the backends of a functionality in 16 bits, and asserts
it. PyTorch has six functionalities with a key per backend; so a table has at most some three hundred slots."""
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_NAME = re.compile(r"[\w.+-]{1,100}", re.ASCII)
_DEVICE = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_BUILD = re.compile(r"[\w.+-]{0,200}", re.ASCII)


def faults_of(universe: Universe, lists: Sequence[str], maps: Sequence[str]) -> list[str]:
    """Faults of keys: one is not known, is of another kind, or is there twice. Nothing that rests on it is looked at.

    lists: the fields that are lists of keys. maps: those that map to such lists.
    """
    if faults := [*_size(universe)]:
        return faults
    if faults := [*_spelling(universe), *_repetition(universe, lists, maps)]:
        return faults
    faults = [*_parts(universe)] or [*_keys_of_fields(universe)]
    return [*faults, *_needed(universe)]


def _size(universe: Universe) -> Iterator[str]:
    """No more keys than PyTorch can have: every operator has a slot for each."""
    functionalities, backends = len({*universe.functionalities}), len({*universe.backends})
    if functionalities + 1 + backends > MAX_BITS:
        have = f"fields 'functionalities' and 'backends' have {functionalities} and {backends} keys"
        most = f"PyTorch cannot have more than {MAX_BITS - 1} together, because a set of keys has {MAX_BITS} bits"
        yield f"{have}; {most}"
    for field, count in MOST.items():
        if len(getattr(universe, field)) > count:
            yield f"field {field!r} has more than {count} keys"


def _spelling(universe: Universe) -> Iterator[str]:
    """Names are shown, matched and printed, so that they are spelled like those of PyTorch."""
    keys = (*universe.runtime, *universe.functionalities, *universe.backends, *universe.ids, *universe.aliases)
    grammars = (
        ((universe.name,), _NAME, "the name of a universe"),
        ((universe.torch,), _BUILD, "a version"),
        ((universe.git,), _BUILD, "a commit"),
        (dict.fromkeys(keys), _KEY, "the name of a dispatch key"),
        (universe.devices, _DEVICE, "a device type"),
    )
    for texts, grammar, words in grammars:
        yield from (f"{text[:60]!r} cannot be {words}" for text in texts if not grammar.fullmatch(text))


def _repetition(universe: Universe, fields: Sequence[str], maps: Sequence[str]) -> Iterator[str]:
    lists: dict[str, Iterable[object]] = {field: getattr(universe, field) for field in (*fields, "plain_devices")}
    lists |= {f"{field}.{name}": keys for field in maps for name, keys in getattr(universe, field).items()}
    lists |= {"fallbacks": [fallback.key for fallback in universe.fallbacks], "ids": universe.ids.values()}
    for way, names in lists.items():
        seen: set[object] = set()
        for name in names:
            if name in seen:
                yield f"field {way!r} has {str(name)[:60]!r} twice"
            seen.add(name)
    if UNDEFINED in universe.runtime:
        yield f"field 'runtime' names {UNDEFINED}, which is not a dispatch key"


def _parts(universe: Universe) -> Iterator[str]:
    """Runtime keys are the functionalities, each as it is or once per backend."""
    for functionality, keys in universe.per_backend.items():
        if functionality not in universe.functionalities or len(keys) != len(universe.backends):
            yield f"field 'per_backend.{functionality}' must be a functionality with one key per backend"
    expected = [key for name in universe.functionalities for key in universe.per_backend.get(name, (name,))]
    if odd := sorted({*expected} ^ {*universe.runtime}):
        yield f"fields 'runtime', 'functionalities' and 'per_backend' disagree about {', '.join(odd[:20])}"
    elif len(expected) != len(universe.runtime):
        yield "field 'per_backend' has a key twice"
    for alias in universe.aliases:
        if alias in universe.slot or alias in universe.functionalities:
            yield f"{alias} is an alias key, but also a runtime key or a functionality"
    for key in (*universe.runtime, *universe.aliases, *universe.functionalities):
        if key not in universe.ids:
            yield f"field 'ids' does not have {key!r}"


def _keys_of_fields(universe: Universe) -> Iterator[str]:
    """Every key that a field names is a key of the universe, in a place where it makes sense."""
    runtime, functionalities, devices = "a runtime key", "a functionality", "in 'devices'"
    kinds = {runtime: {*universe.runtime}, functionalities: {*universe.functionalities}, devices: universe.devices}
    lists: list[tuple[str, Iterable[str], str]] = [
        ("fallbacks", [fallback.key for fallback in universe.fallbacks], runtime),
        ("after_autograd", (universe.after_autograd,), functionalities),
        ("after_ADInplaceOrView", (universe.after_ADInplaceOrView,), functionalities),
        ("full_after_always", universe.full_after_always, functionalities),
        ("plain_devices", universe.plain_devices, devices),
        ("autograd_backends", universe.autograd_backends, runtime),
    ]
    of_runtime_keys = ("autogradother_backends", "default_included", "default_excluded", "replaceable_fallbacks")
    fields = (*of_runtime_keys, "higher_order_fallthrough", "wrapped")
    lists += [(field, getattr(universe, field), runtime) for field in fields]
    for field in ("aliases", "autograd_backends"):
        lists += [(f"{field}.{name}", keys, runtime) for name, keys in getattr(universe, field).items()]
    lists += [(f"devices.{device}", (key,), runtime) for device, key in universe.devices.items()]
    for way, named, kind in lists:
        yield from (f"field {way!r} names {key[:60]!r}, which is not {kind}" for key in named if key not in kinds[kind])
    for key, refreshed in universe.refreshes.items():
        if key not in universe.ids or not {*universe.slots}.issuperset(refreshed):
            yield f"field 'refreshes.{key}' names a key that the universe does not have"
        elif key in universe.runtime and key not in refreshed:
            yield f"field 'refreshes.{key}' lacks {key}: a registration always recomputes its own slot"
    private = [device for device, key in universe.devices.items() if key == PRIVATE_USE1]
    if len(private) > 1:
        yield f"field 'devices' names {PRIVATE_USE1} more than once: {', '.join(private)}"
    elif UNNAMED_BACKEND in universe.devices and UNNAMED_BACKEND not in private:
        yield f"field 'devices.{UNNAMED_BACKEND}' must be {PRIVATE_USE1}"


def _needed(universe: Universe) -> Iterator[str]:
    """The keys without which the rules of the dispatcher cannot be applied."""
    needed = {
        "aliases": (AUTOGRAD, CATCH_ALL, EXPLICIT),
        "runtime": (AUTOGRAD_OTHER, AD_INPLACE_OR_VIEW),
        "per_backend": (DENSE,),
    }
    for field, keys in needed.items():
        yield from (f"field {field!r} must have {key}" for key in keys if key not in getattr(universe, field))
    if not universe.backends:
        yield "field 'backends' must name a backend"
    elif universe.per_backend.get(DENSE, universe.backends) != universe.backends:
        yield f"field 'backends' must be field 'per_backend.{DENSE}'"
    for alias, covered in universe.aliases.items():
        if not covered:
            yield f"field 'aliases.{alias}' must name the keys that the alias covers"
