"""The operators that can be chosen, and what is marked of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

from dispatch_cli.answers.shared.operator_list import ListedOperator, listed_operators, own_names
from dispatch_cli.engine.state import State
from dispatch_cli.explore.operators.fuzzy import MISSPELT, Matcher, is_scattered, nearest
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName, Severity

OWN = "+"
"""The mark of operators that the files change."""
CALLED = "\N{MULTIPLICATION SIGN}"
"""The mark of operators that the recorded program called, before the number of calls."""
SEVERITIES = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "i"}
"""The marks of findings, behind their number."""
FindingCounts = Mapping[str, Mapping[Severity, int]]
"""The findings of each operator without the changes on trial, counted by severity."""


def spot_of(entry: ListedOperator) -> Spot:
    """Spot of an operator of the list."""
    return Spot(higher_order=entry.name) if entry.higher_order else Spot(OperatorName.parse(entry.name))


class Marked(Enum):
    """Marks that operators can have. The value names a mark in the list's filter."""

    ALL = "all"
    OWN = "files"
    TRIED = "what if"
    FINDINGS = "findings"
    CALLED = "trace"


class Catalogue:
    """All operators of a state, those of its files first.

    own: those that the files say something of. tried: those that a change on trial changed. findings: those of
    each, counted by severity; None as long as the checks have not run. called: how often the recorded program called
    each; None where there is no recording.
    """

    called: Mapping[str, int] | None = None

    def __init__(self, state: State) -> None:
        self.own = own_names(state)
        self._has_others = state.base is not None or state.source is not None
        self.entries = listed_operators(state, self.own)
        self.matcher = Matcher([entry.name for entry in self.entries], self.own)
        self.tried: frozenset[str] = frozenset()
        self.findings: Mapping[str, Mapping[Severity, int]] | None = None

    @cached_property
    def numbers(self) -> Mapping[ListedOperator, int]:
        """Index of each operator among the entries."""
        return {entry: number for number, entry in enumerate(self.entries)}

    def names(self, marked: Marked) -> frozenset[str] | None:
        """The operators that are so marked; None for all."""
        if marked is Marked.OWN:
            return self.own
        if marked is Marked.TRIED:
            return self.tried
        if marked is Marked.CALLED:
            return frozenset(self.called or ())
        return frozenset(self.findings or ()) if marked is Marked.FINDINGS else None

    @property
    def marks(self) -> tuple[Marked, ...]:
        """The marks that there can be: without a base, no operator differs from others by being of the files."""
        has = {Marked.OWN: self._has_others, Marked.CALLED: self.called is not None}
        return tuple(mark for mark in Marked if has.get(mark, True))

    def counts(self, entry: ListedOperator) -> Iterator[tuple[str, Severity | None]]:
        """Counts behind a name: of the operator's calls, and of its findings of each severity."""
        if calls := (self.called or {}).get(entry.name):
            yield f" {CALLED}{calls:,}", None
        by_severity = (self.findings or {}).get(entry.name, {})
        for severity, sign in SEVERITIES.items():
            if by_severity.get(severity):
                yield f" {by_severity[severity]}{sign}", severity

    def find(self, query: str, marked: Marked = Marked.ALL) -> list[int]:
        """The numbers of the operators that a query finds, best first."""
        matches, names = self.matcher.find(query), self.names(marked)
        return matches if names is None else [number for number in matches if self.entries[number].name in names]

    def search(self, query: str, marked: Marked = Marked.ALL) -> tuple[list[int], str]:
        """As `find`; where a query finds nothing, what it may mean, and what that is in a few words.

        Where it finds only names that have its letters here and there, those that it may misspell come before them.
        """
        matches = self.find(query, marked)
        if not query.strip() or (matches and not is_scattered(self.entries[matches[0]].name, query)):
            return matches, ""
        names = self.names(marked)
        numbers = [number for number, entry in enumerate(self.entries) if names is None or entry.name in names]
        ways = (MISSPELT,) if matches else ()
        meant = nearest([self.entries[number].name for number in numbers], query, *ways)
        near = [numbers[index] for index in meant]
        if not near or (matches and matches[0] in near):
            return matches, ""
        return (list(dict.fromkeys((*near, *matches))), "the nearest:") if matches else (near, "none; the nearest:")

    def number_of(self, spot: Spot) -> int | None:
        """The number of the operator of a place; None where it has none."""
        name = spot.higher_order
        return self.numbers.get(ListedOperator(str(spot.operator)) if name is None else ListedOperator(name, True))


def tried_operators(session: Session) -> frozenset[str]:
    """The operators that a change on trial is about; a backend fallback is about none of its own."""
    return frozenset(map(str, session.whatif.touched.operators)) if session.has_tried else frozenset()
