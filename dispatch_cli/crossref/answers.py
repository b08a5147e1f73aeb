"""Answers of a PyTorch, and the engine's differences from them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

Answers = Mapping[str, Any]
"""A PyTorch's state and answers, as `dispatch_cli.capture.answers_probe` writes them, checked."""


class Compared(Enum):
    """Parts of the answers that are compared."""

    REGISTRATION = "registration"
    """The engine takes what PyTorch has registered."""
    OPERATOR = "operator"
    """Both have the operator."""
    DUMP = "dump"
    """The registration dump, line by line."""
    TABLE = "table"
    """The computed table, slot by slot."""
    INVARIANTS = "invariants"
    """The live table is what the registrations determine."""
    RESOLVE_KEY = "resolve_key"
    """The choice of Python's dispatcher, slot by slot."""
    HIGHER_ORDER = "higher_order"
    """For higher-order operators, the choice of ``resolve_key`` and the keys that fall through, slot by slot."""


class Disagreement(NamedTuple):
    """A difference between the engine and PyTorch.

    key: the slot; of a dump, what is before the colon; None where it is about the whole operator.
    ours, theirs: what the one and the other say; None when it says nothing.
    """

    operator: str
    part: Compared
    key: str | None
    ours: str | None
    theirs: str | None
