"""The known names that a misspelt one may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_COMPARED = 200
"""The characters of a word that are looked at."""
KEYS_LISTED = (
    "`dispatch-cli keys` lists the dispatch keys; an out-of-tree backend has those of PrivateUse1, and can be given "
    "its name with --privateuse1 NAME"
)
"""The hint for a key that resembles none."""
_OTHER_WORDS = {
    "gpu": "cuda",
    "math": "compositeimplicitautograd",
    "defaultbackend": "compositeexplicitautograd",
    "privateuse": "privateuse1",
}
"""Words that people write, with PyTorch's words for the same: its own ones until 1.8 among them."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""The parts of a name: ``Autograd`` and ``CPU`` of ``AutogradCPU``."""


def similar(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.7) -> list[str]:
    """Up to *count* of the known names that look like *word*, best first; upper and lower case are one.

    A name of several parts has to be close in the part that differs: ``AutogradNPU`` is not close to ``AutogradCPU``,
    since ``NPU`` is not close to ``CPU``.

    cutoff: how alike they are at least, from 0 to 1.
    """
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    word = word[:MAX_COMPARED]
    lower = word.lower()
    for written, meant in _OTHER_WORDS.items():
        if (other := by_lower.get(lower.replace(written, meant))) is not None and written in lower:
            return [other]
    near = get_close_matches(lower, by_lower, count + 12, cutoff)
    return [by_lower[name] for name in near if _differing_parts_are_close(word, by_lower[name], cutoff)][:count]


def _differing_parts_are_close(word: str, name: str, cutoff: float) -> bool:
    """True if what *word* has in place of some parts of a name looks like those parts."""
    own, others = _parts(word), _parts(name)
    rest, parts = "".join(part for part in own if part not in others), [other for other in others if other not in own]
    while parts and rest.startswith(parts[0]):
        rest = rest.removeprefix(parts.pop(0))
    while parts and rest.endswith(parts[-1]):
        rest = rest.removesuffix(parts.pop())
    wanted = "".join(parts)
    if not wanted:
        return len(rest) < 3
    if not rest:
        return True
    from difflib import SequenceMatcher

    return sorted(rest) == sorted(wanted) or SequenceMatcher(None, rest, wanted).ratio() >= cutoff


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)]


def is_one_edit_away(word: str, other: str) -> bool:
    """True if one letter added, removed or replaced, or two neighbours swapped, make one word the other."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    shorter, longer = sorted((word, other), key=len)
    start = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    rest, other_rest = shorter[start:], longer[start:]
    if len(shorter) < len(longer):
        return rest == other_rest[1:]
    return rest[1:] == other_rest[1:] or (rest[:2][::-1] == other_rest[:2] and rest[2:] == other_rest[2:])


def suggestion(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.7) -> str | None:
    """``did you mean …?`` for the names that look like *word*, or None."""
    return did_you_mean(similar(word, known, count, cutoff))


def did_you_mean(names: Sequence[str]) -> str | None:
    return f"did you mean {' or '.join(names)}?" if names else None


def starting(words: Iterable[str], start: str) -> list[str]:
    """The words that begin with *start*; where there are none, those that do if case is ignored."""
    words = list(words)
    exact = [word for word in words if word.startswith(start)]
    return exact or [word for word in words if word.lower().startswith(start.lower())]
