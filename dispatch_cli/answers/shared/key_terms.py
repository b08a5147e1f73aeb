"""Sets of slots as few names: an alias key and the slots that it is without, globs, or the keys themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from dispatch_cli.model.universe import Universe

FEW = 12
"""Number of keys that are named one by one; of more, globs take the place of those that they match exactly."""
LEAST = 3
"""A glob or an alias key takes the place of so many keys at least."""


class KeyTerms(NamedTuple):
    """The fields ``key`` and ``except`` of a guard: names, globs and alias keys."""

    keys: tuple[str, ...]
    excepted: tuple[str, ...] = ()


def key_terms(universe: Universe, keys: Iterable[str], alias: str | None) -> KeyTerms:
    """Terms that mean exactly these slots in the universe.

    alias: the alias key whose kernel fills them, which then stands for them in other universes, too; None where a
    kernel is registered at each of them.
    """
    slots = sorted(set(keys), key=universe.slot.__getitem__)
    if alias is not None:
        covered = universe.covered_by(alias)
        beyond = [key for key in slots if key not in covered]
        left_out = [key for key in covered if key not in slots]
        excepted = _terms(universe, left_out) if len(left_out) > LEAST else tuple(left_out)
        if len(beyond) + 1 + len(excepted) < len(slots) or not excepted:
            return KeyTerms((*beyond, alias), excepted)
    for other, covered in universe.aliases.items():
        left_out = [key for key in covered if key not in slots]
        if len(covered) - len(left_out) == len(slots) >= LEAST and not left_out:
            return KeyTerms((other,))
        if len(covered) - len(left_out) == len(slots) > FEW and len(left_out) < LEAST:
            return KeyTerms((other,), tuple(left_out))
    return KeyTerms(_terms(universe, slots) if len(slots) > FEW else tuple(slots))


def _terms(universe: Universe, keys: Iterable[str]) -> tuple[str, ...]:
    """Alias keys and globs for what they match exactly, and the other keys by name, in the order of the slots."""
    left = set(keys)
    placed_terms: list[tuple[int, str]] = []
    for term, matched in _candidates(universe, left):
        if len(matched) >= LEAST and left.issuperset(matched):
            left.difference_update(matched)
            placed_terms.append((universe.slot[matched[0]], term))
    placed_terms += [(universe.slot[key], key) for key in left]
    return tuple(term for _, term in sorted(placed_terms))


def _candidates(universe: Universe, keys: set[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Alias keys, and globs by the words that names begin with, each with what it matches; the longest first."""
    words = {beginning for key in keys for beginning in _beginnings(key)}
    globs = [f"{word}*" for word in sorted(words)]
    by_glob = [(glob, tuple(key for key in universe.slots if fnmatchcase(key, glob))) for glob in globs]
    return sorted((*universe.aliases.items(), *by_glob), key=lambda item: -len(item[1]))


def _beginnings(key: str) -> Iterator[str]:
    """``Sparse`` and ``SparseCsr`` of SparseCsrCPU."""
    for word in re.finditer(r"[A-Z][a-z]+", key):
        yield key[: word.end()]
