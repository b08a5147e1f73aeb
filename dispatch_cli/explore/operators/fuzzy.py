"""Finds names by some of their letters, by globs, and by what a misspelt query may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from dispatch_cli.answers.shared.selection import ALIKE, name_start, nearest_names, select_higher_order, select_names

MAX_QUERY = 80
"""Letters that are looked for; names are rarely longer."""
MISSPELT = 0.75
"""Least likeness of a name to one of four letters or more of which two changed places."""
_PYTORCH = "aten::"
"""The namespace whose operators come first among equals."""
_BOUNDARY = frozenset("_.:")
_MISSPELT = 4
"""Letters of a word that can be misspelt."""


class Matcher:
    """Names that can be searched: every word of a query has its letters in the name, in order.

    Upper and lower case are one. Names in which a word is found whole come first, at the beginning of the name before
    at the beginning of a part, before elsewhere; of equals those in *own*, then PyTorch's, and the shorter one. A word
    with ``*`` or ``?`` is a glob instead, as ``--op`` takes it.
    """

    def __init__(self, names: Sequence[str], own: frozenset[str] = frozenset()) -> None:
        self.names = names
        self._own = own

    @cached_property
    def _lower(self) -> list[str]:
        return [name.lower() for name in self.names]

    def find(self, query: str) -> list[int]:
        """The numbers of the names that match, best first; all, in their order, where nothing is asked."""
        chosen, words = [self._globbed(glob) for glob in _globs(query)], words_of(query)
        numbers = [number for number, name in enumerate(self.names) if all(name in group for group in chosen)]
        return self._ranked(numbers, words) if words else numbers

    def _globbed(self, glob: str) -> frozenset[str]:
        """The names that a glob chooses; those without a namespace are of higher-order operators."""
        ordinary = select_names([name for name in self.names if "::" in name], glob)
        higher_order = (name for name in self.names if "::" not in name)
        return frozenset((*ordinary, *select_higher_order(higher_order, glob)))

    def _ranked(self, candidates: Sequence[int], words: Sequence[str]) -> list[int]:
        """Those of some names that words find, best first."""
        patterns = [_pattern(word).match for word in words]
        lower = self._lower
        numbers = [number for number in candidates if all(match(lower[number]) for match in patterns)]
        ranks = {number: self._rank(number, words) for number in numbers}
        numbers.sort(key=ranks.__getitem__)
        return numbers

    def _rank(self, number: int, words: Sequence[str]) -> tuple[int, bool, int, int]:
        name = self._lower[number]
        start = name_start(name)
        ranks = sum(_word_rank(name, start, word) for word in words)
        is_own = self.names[number] in self._own
        return 2 * ranks + (not is_own and not name.startswith(_PYTORCH)), not is_own, len(name), number


def nearest(names: Sequence[str], query: str, alike: float = ALIKE) -> list[int]:
    """The numbers of the names that a search may mean, best first; none where nothing is near, and for globs.

    alike: how alike they are at least, from 0 to 1.
    """
    query = query[:MAX_QUERY].strip()
    if _globs(query):
        return []
    numbers = {name: number for number, name in enumerate(names)}
    near = nearest_names(names, ".".join(words_of(query)), alike)
    return [numbers[name] for match in near for name in match.names]


def matched(name: str, query: str) -> list[int]:
    """The places of the letters of a name that a query finds."""
    lower = name.lower()
    places: set[int] = set()
    for word in words_of(query):
        places.update(_places(lower, word))
    return sorted(places)


def is_scattered(name: str, query: str) -> bool:
    """True if a name has the letters of a word, of four or more, with others between them."""
    lower = name.lower()
    words = [] if _globs(query) else words_of(query)
    return any(len(word) >= _MISSPELT and word not in lower for word in words)


def _globs(query: str) -> list[str]:
    """The words of a query that are globs."""
    return [word for word in query[:MAX_QUERY].split() if _is_glob(word)]


def _is_glob(word: str) -> bool:
    return "*" in word or "?" in word


def words_of(query: str) -> list[str]:
    """The words of a query beside its globs, as they are compared; names may be as PyTorch's Python writes them."""
    text = " ".join(word for word in query[:MAX_QUERY].lower().split() if not _is_glob(word))
    for prefix in ("torch.ops.", "torch._ops."):
        text = text.removeprefix(prefix)
    if "::" not in text and text.partition(".")[0] in ("aten", "prims", "higher_order"):
        text = text.replace(".", "::", 1)
    return text.removeprefix("higher_order::").removesuffix(".default").split()


def _pattern(word: str) -> re.Pattern[str]:
    """The letters in order, from the start of a name; each as early as it can be, so that nothing is tried twice."""
    return re.compile("".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in word))


def _word_rank(name: str, start: int, word: str) -> int:
    """Rank of a match; 0 is the best. start: the index at which the name begins, behind its namespace."""
    if word in name:
        at = 0 if name.startswith(word) else name.find(word, start)
        if at in (0, start):
            end = at + len(word)
            return 0 if end == len(name) or name[end] in _BOUNDARY else 2
        while at > 0:
            if name[at - 1] in _BOUNDARY:
                return 3
            at = name.find(word, at + 1)
        return 5
    places = _places(name, word)
    return 6 + places[-1] + 1 - places[0] - len(word)


def _places(name: str, word: str) -> list[int]:
    """Indices of the letters: in one piece if they can be, else each as early as it can be, in the name if they can."""
    start = name_start(name)
    for at in (name.find(word, start), name.find(word)):
        if at >= 0:
            return [*range(at, at + len(word))]
    for at in (start, 0):
        places: list[int] = []
        for letter in word:
            at = name.find(letter, at) + 1
            places.append(at - 1)
            if not at:
                break
        else:
            return places
    return []
