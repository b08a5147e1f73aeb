"""The findings that are listed, and the number of all: counted as they are made, so that memory is bounded.

A guard of forty characters can be broken at thirty thousand places of PyTorch. Findings of one check that share a place
and a reason are a *group*. Of each group the first are kept, and of each check; the others are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.checks.check import Finding
from dispatch_cli.model.names import Severity
from dispatch_cli.model.span import Span

OF_CHECK = 1000
"""Findings of one check that are listed where not all are asked for."""
OF_GROUP = 100
"""Findings of one group that are: more than an alias key has slots."""


class Limits(NamedTuple):
    """Limits of the listed findings. The first of a group is listed beyond *of_check*, too, for *of_check* groups."""

    of_check: int = OF_CHECK
    of_group: int = OF_GROUP


class Unlisted(NamedTuple):
    """Findings of one check that are counted and not listed.

    severity: the worst of them. span, reason: what they share; None for those of all further groups of the check.
    listed: how many of the same group are listed. findings: how many are not.
    """

    check: str
    severity: Severity
    span: Span | None
    reason: str | None
    listed: int
    findings: int


_Place = tuple[Span | None, str | None]
"""The place and the reason that findings of a group share."""


class Listing:
    """The findings of one check.

    listed: those that are kept. counts: how many there are, by severity.
    """

    def __init__(self, check: str, limits: Limits | None) -> None:
        self.check = check
        self.listed: list[Finding] = []
        self.counts: dict[Severity, int] = {}
        self._of_operators: dict[Severity, Counter[str]] = {}
        self._limits = limits
        self._groups: Counter[_Place] = Counter()
        self._passed_over: dict[_Place | None, tuple[Severity, int]] = {}  # by group; None for all that are not listed

    def add(self, finding: Finding) -> bool:
        """Count a finding, and list it if there is room; True if there was."""
        severity, place = finding.severity, (finding.span, finding.alike)
        self.counts[severity] = self.counts.get(severity, 0) + 1
        if finding.operator is not None:
            self._of_operators.setdefault(severity, Counter())[finding.operator] += 1
        if self._is_full(place):
            group = place if place in self._groups else None
            worst, count = self._passed_over.get(group, (severity, 0))
            self._passed_over[group] = worse(worst, severity), count + 1
            return False
        if self._limits is not None:
            self._groups[place] += 1
        self.listed.append(finding)
        return True

    def _is_full(self, place: _Place) -> bool:
        """True if no more findings of a group are listed."""
        if self._limits is None:
            return False
        if place not in self._groups:
            return len(self._groups) >= self._limits.of_check
        is_large = self._groups[place] >= self._limits.of_group and place != (None, None)
        return is_large or len(self.listed) >= self._limits.of_check

    @property
    def by_operator(self) -> dict[str, dict[Severity, int]]:
        """Number of findings about each operator, by severity."""
        of_operators: dict[str, dict[Severity, int]] = {}
        for severity, counts in self._of_operators.items():
            for operator, count in counts.items():
                of_operators.setdefault(operator, {})[severity] = count
        return of_operators

    def unlisted(self) -> Iterator[Unlisted]:
        """Counts of findings that are not listed: for each group listed in part, and for all others together."""
        for place, (severity, count) in sorted(self._passed_over.items(), key=lambda item: item[0] is None):
            span, reason = place or (None, None)
            yield Unlisted(self.check, severity, span, reason, 0 if place is None else self._groups[place], count)


def worse(severity: Severity, other: Severity) -> Severity:
    """The worse of two severities."""
    return severity if severity.rank <= other.rank else other
