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


class _Alike:
    """Findings that share a place and a reason. severity: the worst of those that are passed over."""

    __slots__ = ("listed", "passed_over", "severity")

    def __init__(self, severity: Severity) -> None:
        self.severity = severity
        self.listed = 0
        self.passed_over = 0


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
        self._groups: dict[_Place, _Alike] = {}
        self._further = _Alike(Severity.INFO)

    def add(self, finding: Finding) -> bool:
        """Count a finding, and list it if there is room; True if there was."""
        severity, place = finding.severity, (finding.span, finding.alike)
        self.counts[severity] = self.counts.get(severity, 0) + 1
        if finding.operator is not None:
            self._of_operators.setdefault(severity, Counter())[finding.operator] += 1
        if self._is_full(place):
            group = self._groups.get(place, self._further)
            group.passed_over += 1
            group.severity = worse(group.severity, severity)
            return False
        if self._limits is not None:
            self._groups.setdefault(place, _Alike(severity)).listed += 1
        self.listed.append(finding)
        return True

    def _is_full(self, place: _Place) -> bool:
        """True if no more findings of a group are listed."""
        if self._limits is None:
            return False
        group = self._groups.get(place)
        if group is None:
            return len(self._groups) >= self._limits.of_check
        if len(self.listed) >= self._limits.of_check:
            return True
        return group.listed >= self._limits.of_group and place != (None, None)

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
        for (span, reason), group in self._groups.items():
            if group.passed_over:
                yield Unlisted(self.check, group.severity, span, reason, group.listed, group.passed_over)
        if self._further.passed_over:
            yield Unlisted(self.check, self._further.severity, None, None, 0, self._further.passed_over)


def worse(severity: Severity, other: Severity) -> Severity:
    """The worse of two severities."""
    return severity if severity.rank <= other.rank else other
