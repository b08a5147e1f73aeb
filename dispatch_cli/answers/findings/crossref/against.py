"""Comparison of the registrations in sources with those in a state, for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.crossref.against import AgainstEntry, AgainstKind, AgainstOutcome
from dispatch_cli.model.span import Span

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


class AgainstRow(NamedTuple):
    """A registration that is not the same.

    operator: None for a backend fallback. key: None for a definition. sources, state: the schema, ``kernel`` or
    ``fallthrough``; None where there is none, or where the sources do not say the schema.
    place, when: of the registration in the sources, of the first where there are several. debug: where the state has
    it from, as far as PyTorch says.
    """

    outcome: AgainstOutcome
    registered: AgainstKind
    operator: str | None
    key: str | None
    sources: str | None
    place: Span | None
    when: tuple[str, ...]
    state: str | None
    debug: str | None


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
    entries: Sequence[AgainstEntry], state: str, universe: str, undecided: int, not_understood: int
) -> AgainstReport:
    """Put a comparison together."""
    order = [*DIFFERENCES, AgainstOutcome.NOT_IN_BUILD, AgainstOutcome.NOT_KNOWN]
    others = [entry for entry in entries if entry.outcome is not AgainstOutcome.SAME]
    rows = tuple(map(_row, sorted(others, key=lambda entry: order.index(entry.outcome))))
    return AgainstReport(
        state=state,
        universe=universe,
        equal=not any(row.outcome in DIFFERENCES for row in rows),
        counts=tuple(_count(entries, registered) for registered in AgainstKind),
        differences=rows,
        undecided=undecided,
        not_understood=not_understood,
    )


def _count(entries: Sequence[AgainstEntry], registered: AgainstKind) -> AgainstCount:
    counted = Counter(entry.outcome for entry in entries if entry.registered is registered)
    return AgainstCount(
        registered,
        same=counted[AgainstOutcome.SAME],
        different=counted[AgainstOutcome.DIFFERENT],
        only_in_sources=counted[AgainstOutcome.ONLY_IN_SOURCES],
        only_in_state=counted[AgainstOutcome.ONLY_IN_STATE],
        not_in_build=counted[AgainstOutcome.NOT_IN_BUILD],
        not_known=counted[AgainstOutcome.NOT_KNOWN],
    )


def _row(entry: AgainstEntry) -> AgainstRow:
    first = entry.sources[0] if entry.sources else None
    return AgainstRow(
        outcome=entry.outcome,
        registered=entry.registered,
        operator=entry.operator or None,
        key=entry.key,
        sources=None if first is None else first.text,
        place=None if first is None else first.span,
        when=() if first is None else tuple(map(str, first.when)),
        state=None if entry.state is None else entry.state.text,
        debug=None if entry.state is None else entry.state.debug,
    )
