"""Many runtime keys in few words: functionalities that have the same backends, and keys that are not per backend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.model.universe import UNDEFINED, Universe


class KeyGroup(NamedTuple):
    """Runtime keys of some functionalities at some backends.

    functionalities, backends: each of the one at each of the other, which are *keys*. missing: the universe's other
    backends.
    """

    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    missing: tuple[str, ...]
    keys: tuple[str, ...]


class KeyGroups(NamedTuple):
    """A set of slots: the per-backend keys in groups, and the others in table order."""

    keys: tuple[str, ...]
    groups: tuple[KeyGroup, ...]
    others: tuple[str, ...]


def group_keys(universe: Universe, keys: Iterable[str]) -> KeyGroups:
    """Group runtime keys and Undefined. Other names are left out."""
    chosen = set(keys)
    at: dict[str, list[str]] = {}
    for functionality in universe.functionalities:
        for backend, key in zip(universe.backends, universe.per_backend.get(functionality, ()), strict=False):
            if key in chosen:
                at.setdefault(functionality, []).append(backend)
    alike: dict[tuple[str, ...], list[str]] = {}
    for functionality, backends in at.items():
        alike.setdefault(tuple(backends), []).append(functionality)
    groups = tuple(_group(universe, tuple(members), backends, chosen) for backends, members in alike.items())
    others = tuple(
        key for key in universe.slots if key in chosen and (key == UNDEFINED or universe.runtime_parts[key][1] is None)
    )
    return KeyGroups(tuple(key for key in universe.slots if key in chosen), groups, others)


def _group(
    universe: Universe, functionalities: tuple[str, ...], backends: tuple[str, ...], chosen: set[str]
) -> KeyGroup:
    missing = tuple(one for one in universe.backends if one not in backends)
    keys = tuple(key for name in functionalities for key in universe.per_backend[name] if key in chosen)
    return KeyGroup(functionalities, backends, missing, keys)
