"""The operators that a misspelt name may mean. `page/assets/model_nearest.js` has the same rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.model.names import without_overload

MOST_LETTERS, LEAST_LETTERS = 80, 2
"""Letters that are looked at; letters behind the namespace from which a name can be misspelt."""
ALIKE = 0.6
"""Least similarity of names, from 0 to 1: the share of their letters that may not differ."""
LEAST_TOGETHER = 5
"""Letters of two names together from which one may differ, however alike they have to be."""
MOST_NEAR = 8
"""Names that are found, without their overloads."""


class NearNames(NamedTuple):
    """The operators of one name.

    name: without the overload, in lower case. names: those that are meant; all, unless an overload is asked for that
    one of them has, or is close to. cost: the letters that differ, of the name and of the overload; of the name, those
    that are not left out or added.
    """

    name: str
    names: Sequence[str]
    cost: tuple[int, int, int]
    has_overload: bool


def nearest_names(names: Iterable[str], asked: str, alike: float = ALIKE) -> list[NearNames]:
    """The operators with the nearest names, best first; of equals PyTorch's own, then in the order of *names*.

    asked: a name as C++ writes it, with or without namespace and overload. Without a namespace, those of the operators
    do not count. Where an overload is asked for that some of them have, they are all that is found. Upper and lower
    case are one. alike: how alike names are at least, from 0 to 1.
    """
    asked = asked[:MOST_LETTERS].lower()
    wanted = without_overload(asked)
    overload = asked[len(wanted) + 1 :]
    letters = len(wanted) - _start(wanted)
    if letters < LEAST_LETTERS:
        return []
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(without_overload(name.lower()), []).append(name)
    candidates = []
    for name, members in by_name.items():
        start = _start(name)
        known = name if "::" in wanted else name[start:]
        cost = misspelt_by(wanted, known, _most(alike, letters + len(name) - start))
        if cost is not None:
            chosen, other = _of_overload(members, len(name) + 1, overload, alike)
            costs = cost, other, cost - abs(len(wanted) - len(known))
            candidates.append(NearNames(name, chosen or members, costs, chosen is not None))
    candidates.sort(key=lambda near: (near.cost, not near.name.startswith("aten::")))
    with_overload = [candidate for candidate in candidates if candidate.has_overload]
    return (with_overload or candidates)[:MOST_NEAR]


def _of_overload(members: Sequence[str], at: int, overload: str, alike: float) -> tuple[Sequence[str] | None, int]:
    """The operators with the overload, or with those nearest to it, and by how many letters these differ; None for
    none. at: where overloads begin.
    """
    if not overload:
        return None, 0
    others = [(member, member[at:].lower()) for member in members]
    costs = [(misspelt_by(overload, other, _most(alike, len(overload) + len(other))), name) for name, other in others]
    best = min((cost for cost, _ in costs if cost is not None), default=None)
    if best is None:
        return None, len(overload)
    return [name for cost, name in costs if cost == best], best


def _most(alike: float, letters: int) -> int:
    """The letters of two names that may differ. letters: of both together."""
    return max(int((1 - alike) * letters / 2), int(letters >= LEAST_TOGETHER))


def misspelt_by(word: str, other: str, most: int) -> int | None:
    """Number of letters left out, added, changed, or exchanged with the next one; None for more than *most*."""
    if abs(len(word) - len(other)) > most:
        return None
    if word == other:
        return 0
    # each difference changes how often at most two letters occur, by one
    if max(_letters_beyond(word, other), _letters_beyond(other, word)) > most:
        return None
    earlier: list[int] = []
    last = [*range(len(other) + 1)]
    for at, letter in enumerate(word):
        row = [at + 1]
        for to, known in enumerate(other):
            cost = last[to] + (letter != known)
            if row[to] < cost:
                cost = row[to] + 1
            if last[to + 1] < cost:
                cost = last[to + 1] + 1
            if at and to and letter == other[to - 1] and known == word[at - 1] and earlier[to - 1] < cost:
                cost = earlier[to - 1] + 1
            row.append(cost)
        if min(row) > most:
            return None
        earlier, last = last, row
    return last[-1] if last[-1] <= most else None


def _letters_beyond(word: str, other: str) -> int:
    """Number of letters of a word that another one does not have."""
    for letter in other:
        word = word.replace(letter, "", 1)
    return len(word)


def _start(name: str) -> int:
    """Start of a name, behind its namespace."""
    return name.rfind("::") + 2 if "::" in name else 0
