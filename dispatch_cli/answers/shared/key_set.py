"""A key set in parts, as answers show it."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet, components_of, functionalities_of


class KeySet(NamedTuple):
    """A key set: its keys as PyTorch iterates them, and its bits, which can name more than its keys do.

    raw: PyTorch's ``raw_repr``, 64 bits in hexadecimal.
    """

    keys: tuple[str, ...]
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str


def key_set_of(keys: DispatchKeySet) -> KeySet:
    """A key set in parts."""
    return KeySet(tuple(keys), functionalities_of(keys), components_of(keys), hexadecimal(keys.bits))


def hexadecimal(bits: int) -> str:
    """64 bits in hexadecimal."""
    return f"0x{bits:016x}"
