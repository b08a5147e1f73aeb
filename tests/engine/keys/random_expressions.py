"""Random key-set expressions, which this project and Python read alike."""

from __future__ import annotations

import random
from collections.abc import Sequence


def expression(
    rng: random.Random, keys: Sequence[str], functionalities: Sequence[str], depth: int = 3, numbers: bool = True
) -> str:
    """A text of keys, functionalities, FULL_AFTER, numbers, brackets, ``|``, ``&`` and ``-``."""
    if depth == 0 or rng.random() < 0.3:
        return _atom(rng, keys, functionalities, numbers)
    parts = [expression(rng, keys, functionalities, depth - 1, numbers) for _ in range(rng.randint(1, 4))]
    text = parts[0] + "".join(f" {rng.choice('||&-')} {part}" for part in parts[1:])
    return f"({text})" if rng.random() < 0.4 else text


def _atom(rng: random.Random, keys: Sequence[str], functionalities: Sequence[str], numbers: bool) -> str:
    chance = rng.random()
    if chance < 0.7:
        return rng.choice(keys)
    if chance < 0.8:
        return rng.choice(functionalities)
    if chance < 0.9 or not numbers:
        return f"FULL_AFTER({rng.choice([*keys, *functionalities])})"
    return hex(rng.getrandbits(16 + rng.randint(0, 40)))
