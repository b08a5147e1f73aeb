"""Dispatch keys by the names that PyTorch prints: today's, those of older versions, and those of renamed backends.

Sources: ``toString`` in c10/core/DispatchKey.cpp, of several versions; ``OperatorEntry::reportError``, which writes the
name of ``torch.utils.rename_privateuse1_backend`` in the place of PrivateUse1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.model.universe import AUTOGRAD, Universe

RENAMED = "PrivateUse1"
"""The backend that an out-of-tree library can give a name of its own."""
UNNAMED = "UNKNOWN_TENSOR_TYPE_ID"
"""PyTorch's word for a key that its ``toString`` lacks."""
_OLD_ENDING = "TensorId"
_OLD_NAMES = {"Autocast": "AutocastCUDA", "ORT": "MAIA", "Variable": AUTOGRAD}
"""Former names of keys: Autocast until 1.11, ORT until 2.3, VariableTensorId until 1.5."""


class PrintedKey(NamedTuple):
    """A key that a text names. backend: the name that a library gave to PrivateUse1; None where the text has none."""

    key: str
    backend: str | None = None


def key_named(universe: Universe, printed: str) -> str | None:
    """The key of the universe that a table or a list of a text means; None where it has none of that name."""
    if _is_key(universe, printed):
        return printed
    old = printed.removesuffix(_OLD_ENDING)
    old = _OLD_NAMES.get(old, old)
    return old if _is_key(universe, old) else None


def read_key(universe: Universe, printed: str) -> PrintedKey | None:
    """The key at which a call ended; None where the universe has none of that name.

    There PyTorch prints the names of renamed backends. Their small letters tell them: ``npu``, ``SparseCsrnpu``. A fork
    has a key of its own for its backend, in capital letters: ``DML``.
    """
    named = key_named(universe, printed)
    if named is not None:
        return PrintedKey(named)
    heads = (key.removesuffix(RENAMED) for key in universe.slots if key.endswith(RENAMED))
    for head in sorted(heads, key=len, reverse=True):
        backend = printed.removeprefix(head)
        if (
            printed.startswith(head)
            and backend in (backend.lower(), backend.upper())
            and backend[:1].isalpha()
            and backend != UNNAMED
        ):
            return PrintedKey(f"{head}{RENAMED}", None if backend == "privateuseone" else backend)
    return None


def _is_key(universe: Universe, name: str) -> bool:
    return any(name in names for names in (universe.slot, universe.aliases, universe.per_backend))


def are_indices(listed: Iterable[str]) -> bool:
    """True for a list of wrong names.

    PyTorch 1.12 and 1.13 wrote the key of the number that a slot has, not the slot's key. Most of those have no name.
    """
    return [*listed].count(UNNAMED) > 1


def is_old(name: str) -> bool:
    """True for a name that only PyTorch before 2.4 prints."""
    return name.endswith(_OLD_ENDING) or name in _OLD_NAMES
