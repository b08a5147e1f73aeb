"""Answers of a PyTorch, and the engine's differences from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple


class Texts(NamedTuple):
    """The two dumps of one operator: ``_dispatch_dump`` and ``_dispatch_dump_table``."""

    registrations: str
    table: str


@dataclass(frozen=True, slots=True)
class ResolveAnswers:
    """Answers of ``torch._ops.resolve_key``.

    slots: the keys asked for, Undefined first. rows: the different rows of answers, one answer per slot: a key, or what
    `dispatch_cli.crossref.compare` writes for an error. row_of: operator → its row.
    """

    slots: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_of: Mapping[str, int]


class HigherOrderAnswers(NamedTuple):
    """Answers of a PyTorch about a higher-order operator.

    row: of `ResolveAnswers.rows`. reached: the runtime keys at which a call of it can arrive.
    """

    row: int
    reached: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """A PyTorch's answers about its operators.

    source: where they come from, in words. texts: the dumps of every operator. complaints: of the operators whose
    invariants do not hold, PyTorch's complaint. higher_order: of every higher-order operator.
    """

    source: str
    texts: Mapping[str, Texts]
    complaints: Mapping[str, str]
    resolved: ResolveAnswers
    higher_order: Mapping[str, HigherOrderAnswers]


@dataclass(frozen=True, slots=True)
class Probed:
    """Registrations as they came from a PyTorch, with its answers.

    universe: the data of a universe file. operators: as `dispatch_cli.capture.looking.parse_dump` gives them, with the
    Python kernels of each under ``python``, where known. higher_order: as the probe gives them.
    not_understood: operator → the line of its dump that is not understood.
    """

    universe: Mapping[str, Any]
    operators: tuple[Mapping[str, Any], ...]
    not_understood: Mapping[str, str]
    answers: Answers
    higher_order: tuple[Mapping[str, Any], ...] = ()


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
