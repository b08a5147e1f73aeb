"""Kinds of keys that several checks ask about, and lists of keys as a sentence has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dispatch_cli.model.universe import AUTOGRAD, Universe

MAX_NAMED = 4
"""More keys than these are shortened in a sentence."""


@lru_cache(maxsize=16)
def backend_keys(universe: Universe) -> tuple[str, ...]:
    """The keys where calls with tensors end, in table order: a tensor brings one of them, and nothing is below it.

    The keys of each backend but for its autograd key, and the backends that share AutogradOther.
    """
    autograd = frozenset(universe.covered_by(AUTOGRAD))
    own = {key for keys in universe.per_backend.values() for key in keys if key not in autograd}
    own.update(universe.autogradother_backends)
    return tuple(key for key in universe.runtime if key in own)


def keys_text(keys: Sequence[str]) -> str:
    """Keys in a sentence: ``CPU, CUDA``, or ``CPU … Meta (15 keys)`` for many."""
    if len(keys) <= MAX_NAMED:
        return ", ".join(keys)
    return f"{keys[0]} … {keys[-1]} ({len(keys)} keys)"
