"""The order in which PyTorch walks an operator's kernels, which decides whose name an error text gives.

An operator's kernels are in a hash table (``ska::flat_hash_map``: Fibonacci hashing, Robin Hood probing, at most half
full), and PyTorch checks a new schema against them in the table's order. Source: ``c10/util/flat_hash_map.h``.
"""

from __future__ import annotations

from collections.abc import Iterable

_MULTIPLIER = 11400714819323198485
_WORD = (1 << 64) - 1
_FEWEST_BUCKETS = 4


def hash_order(numbers: Iterable[int], most: int = 0) -> list[int]:
    """*numbers*, in order of insertion, as such a table would give them back.

    most: how many numbers the table has held at once; it never shrinks.
    """
    buckets = _FEWEST_BUCKETS
    order: list[int] = []
    for number in numbers:
        grown = _buckets_for(len(order) + 1, buckets)
        if grown != buckets:
            buckets = grown
            order = _placed(order, buckets)
        order = _placed([*order, number], buckets)
    grown = _buckets_for(most, buckets)
    return order if grown == buckets else _placed(order, grown)


def _buckets_for(count: int, buckets: int) -> int:
    while count > buckets // 2:
        buckets *= 2
    return buckets


def _placed(numbers: list[int], buckets: int) -> list[int]:
    """Robin Hood probing keeps entries in the order of their desired places; among equals the first stays first."""
    shift = 64 - (buckets.bit_length() - 1)
    return sorted(numbers, key=lambda number: (number * _MULTIPLIER & _WORD) >> shift)
