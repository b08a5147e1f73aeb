"""Errors that Python printed one after another because one came of the other.

Source: ``TracebackException.format`` of Python's module `traceback`, and ``raise … from …``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum
from typing import NamedTuple

_GAP = r"[\s>|]{1,40}"
_MARKS = tuple(
    re.compile(text.replace(" ", _GAP))
    for text in (
        "(?P<handled>During handling of the above exception, another exception occurred)",
        "(?P<cause>The above exception was the direct cause of the following exception)",
        r"(?P<start>Traceback \(most recent call last\))",
    )
)
"""Searched for one at a time, as a search for a word that a pattern begins with is fast."""


class ChainLink(Enum):
    """Relation of another error to the explained one; the value is its name in machine formats.

    HANDLED: the explained one was raised while the other was being handled. RESULT: the other was raised from it.
    """

    HANDLED = "handled"
    RESULT = "result"


class ChainPlace(NamedTuple):
    """Place of an error among those that came of one another.

    chain: the number of its traceback with all that are linked to it. part: counted down over the links "During
    handling": the last is what the program ended with. step: over the links "direct cause": the first is the cause.
    """

    chain: int = 0
    part: int = 0
    step: int = 0


def chain_places(text: str, offsets: list[int]) -> list[ChainPlace]:
    """Place in the chain of errors of each of *offsets*."""
    if not offsets:
        return []
    begins, places = [0], [ChainPlace()]
    linked = False
    for mark in sorted((mark for pattern in _MARKS for mark in pattern.finditer(text)), key=re.Match.start):
        chain, part, step = places[-1]
        if mark.lastgroup == "start":
            place = places[-1] if linked else ChainPlace(chain + 1)
        else:
            place = ChainPlace(chain, part - 1, 0) if mark.lastgroup == "handled" else ChainPlace(chain, part, step + 1)
        linked = mark.lastgroup != "start"
        begins.append(mark.start())
        places.append(place)
    return [places[bisect_right(begins, offset) - 1] for offset in offsets]


def link_between(explained: ChainPlace, other: ChainPlace) -> ChainLink | None:
    """Relation of the other error to the explained one; None where nothing links them."""
    if explained.chain != other.chain:
        return None
    if other.part > explained.part:
        return ChainLink.HANDLED
    return ChainLink.RESULT if other.part == explained.part and other.step > explained.step else None
