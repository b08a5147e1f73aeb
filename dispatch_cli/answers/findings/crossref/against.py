"""Comparison of the registrations in sources with those in a state, for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.crossref.against import AgainstKind, AgainstOutcome, AgainstRow

DIFFERENCES = (AgainstOutcome.DIFFERENT, AgainstOutcome.ONLY_IN_SOURCES, AgainstOutcome.ONLY_IN_STATE)
"""The outcomes that count as differences."""


class AgainstCount(NamedTuple):
    """Numbers of definitions, kernels or fallbacks of each outcome."""

    registered: AgainstKind
    same: int
    different: int
    only_in_sources: int
    only_in_state: int
    not_in_build: int
    not_known: int


@dataclass(frozen=True, slots=True)
class AgainstReport:
    """A comparison of sources with a state.

    state: what the state is called. undecided, not_understood: how many registrations of the sources are not compared,
    since something of them is not known, and how many statements were not understood.
    """

    REPORT: ClassVar[str] = "against"

    state: str
    universe: str
    equal: bool
    counts: tuple[AgainstCount, ...]
    differences: tuple[AgainstRow, ...]
    undecided: int
    not_understood: int


def against_report(
    compared: Sequence[AgainstRow], state: str, universe: str, undecided: int, not_understood: int
) -> AgainstReport:
    """Put a comparison together."""
    order = [*DIFFERENCES, AgainstOutcome.NOT_IN_BUILD, AgainstOutcome.NOT_KNOWN]
    others = [row for row in compared if row.outcome is not AgainstOutcome.SAME]
    rows = tuple(sorted(others, key=lambda row: order.index(row.outcome)))
    return AgainstReport(
        state=state,
        universe=universe,
        equal=not any(row.outcome in DIFFERENCES for row in rows),
        counts=tuple(_count(compared, registered) for registered in AgainstKind),
        differences=rows,
        undecided=undecided,
        not_understood=not_understood,
    )


def _count(compared: Sequence[AgainstRow], registered: AgainstKind) -> AgainstCount:
    counted = Counter(row.outcome for row in compared if row.registered is registered)
    return AgainstCount(
        registered,
        same=counted[AgainstOutcome.SAME],
        different=counted[AgainstOutcome.DIFFERENT],
        only_in_sources=counted[AgainstOutcome.ONLY_IN_SOURCES],
        only_in_state=counted[AgainstOutcome.ONLY_IN_STATE],
        not_in_build=counted[AgainstOutcome.NOT_IN_BUILD],
        not_known=counted[AgainstOutcome.NOT_KNOWN],
    )
