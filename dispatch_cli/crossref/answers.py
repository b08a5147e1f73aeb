"""Answers of a PyTorch, and the engine's differences from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypedDict


class Answers(TypedDict):
    """A PyTorch's state and answers, as `dispatch_cli.capture.answers_probe` writes them, checked.

    torch: its version. universe: the data of a universe file. operators: as `dispatch_cli.capture.looking.parse_dump`
    gives them. skipped: the names of others, with the line of their dumps that is not understood.
    texts: the two dumps of each operator, ``_dispatch_dump`` and ``_dispatch_dump_table``. broken: of the operators
    whose invariants do not hold, PyTorch's complaint.
    resolve_rows: the different rows of answers of ``resolve_key``: for each slot, Undefined first, a key, or what the
    probe writes for an error. resolved: the row of each operator. higher_order_answers: that of each higher-order
    operator, and the runtime keys at which a call of it can arrive.
    """

    torch: str
    universe: Mapping[str, Any]
    operators: Sequence[Mapping[str, Any]]
    higher_order_operators: Sequence[Mapping[str, Any]]
    skipped: Sequence[Mapping[str, str]]
    texts: Mapping[str, Sequence[str]]
    broken: Mapping[str, str]
    resolve_rows: Sequence[Sequence[str]]
    resolved: Mapping[str, int]
    higher_order_answers: Mapping[str, tuple[int, Sequence[str]]]


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
