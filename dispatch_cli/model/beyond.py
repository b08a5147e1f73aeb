"""Items that one collection has beyond another, where items can be in both more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_One = TypeVar("_One")


def beyond(ones: Iterable[_One], others: Iterable[_One], identity: Callable[[_One], Hashable]) -> list[_One]:
    """The items that the others do not have, or not so often; of equal items, the first are taken for the common ones.

    identity: equal for two that count as the same.
    """
    left, extra = Counter(map(identity, others)), []
    for item in ones:
        same = identity(item)
        if left[same]:
            left[same] -= 1
        else:
            extra.append(item)
    return extra
