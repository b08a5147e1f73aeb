"""Suppressed findings, and suppressions without a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.checks.selection import choose
from dispatch_cli.checks.view import View
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import Suppression


class Suppressions:
    """The suppressions of a run's files, and which of them were of use.

    known: every check there is. running: the ids of those that run. Errors: UnknownCheck.
    """

    def __init__(self, view: View, known: Sequence[Check], running: frozenset[str]) -> None:
        self._view = view
        self._running = running
        self._used: set[Suppression] = set()
        self._all = view.state.declarations.suppressions
        self._by_line: dict[tuple[str, int], list[tuple[Suppression, frozenset[str]]]] = {}
        self._by_name: list[tuple[Suppression, frozenset[str]]] = []
        self._ids: dict[Suppression, frozenset[str]] = {}
        self._by_check: dict[str, _ByOperator] = {}
        of_lines: dict[tuple[str, int, int], list[tuple[Suppression, frozenset[str]]]] = {}
        for entry in self._all:
            ids = frozenset[str]().union(*(choose(known, selector) for selector in entry.checks))
            self._ids[entry] = ids
            if entry.line is None:
                self._by_name.append((entry, ids))
            else:
                of_lines.setdefault((entry.span.file, entry.line, entry.last or entry.line), []).append((entry, ids))
        for (file, first, last), those in of_lines.items():
            for line in range(first, last + 1):
                self._by_line.setdefault((file, line), []).extend(those)

    def of(self, finding: Finding) -> Suppression | None:
        """The suppression that a finding falls under: of its line, of its operator's definition, or of its name."""
        if not self._all:
            return None
        suppression = self._at(finding)
        if suppression is None:
            suppression = self._by_operator(finding.check).first(finding.operator, finding.key)
        if suppression is not None:
            self._used.add(suppression)
        return suppression

    def unused(self) -> tuple[Suppression, ...]:
        """The suppressions of the user's own files that suppressed nothing, although every check they name has run."""
        return tuple(
            entry
            for entry in self._all
            if entry not in self._used and not entry.inherited and self._ids[entry] <= self._running
        )

    def _by_operator(self, check: str) -> _ByOperator:
        by_operator = self._by_check.get(check)
        if by_operator is None:
            by_operator = self._by_check[check] = _ByOperator(entry for entry, ids in self._by_name if check in ids)
        return by_operator

    def _at(self, finding: Finding) -> Suppression | None:
        """The suppression of the line of a finding, or of its operator's definition."""
        if not self._by_line:
            return None
        places = [] if finding.span is None else [finding.span]
        if finding.operator is not None:
            name = OperatorName.parse(finding.operator)
            defined = self._view.defined_at(name)
            if defined is not None:
                places.append(defined)
        those = (pair for place in places for pair in self._by_line.get((place.file, place.line), ()))
        return next((suppression for suppression, ids in those if finding.check in ids), None)


Numbered = tuple[int, Suppression]
"""A suppression and its position among those of the run: the first one counts."""


class _ByOperator:
    """The suppressions by name of one check, so that a finding is compared with few, however many there are."""

    def __init__(self, suppressions: Iterable[Suppression]) -> None:
        self._groups: dict[str | None, _ByKey] = {}
        for position, suppression in enumerate(suppressions):
            self._groups.setdefault(suppression.op, _ByKey()).add(position, suppression)
        self._globs = [op for op in self._groups if op is None or is_glob(op)]
        self._about: dict[str | None, tuple[_ByKey, ...]] = {}

    def first(self, operator: str | None, key: str | None) -> Suppression | None:
        """The first suppression for an operator and a key."""
        candidates = [candidate for group in self._of(operator) if (candidate := group.first(key)) is not None]
        return min(candidates, key=itemgetter(0))[1] if candidates else None

    def _of(self, operator: str | None) -> tuple[_ByKey, ...]:
        """Suppressions for an operator, by key."""
        groups = self._about.get(operator)
        if groups is None:
            ops = [op for op in self._globs if op is None or (operator and glob_pattern(op).match(operator))]
            if operator in self._groups and operator not in ops:
                ops.append(operator)
            groups = self._about[operator] = tuple(self._groups[op] for op in ops)
        return groups


class _ByKey:
    """The suppressions of one check and one glob of operators."""

    def __init__(self) -> None:
        self._by_key: dict[str | None, Numbered] = {}
        self._found: dict[str | None, Numbered | None] = {}

    def add(self, position: int, suppression: Suppression) -> None:
        """Add one that comes after all others."""
        self._by_key.setdefault(suppression.key, (position, suppression))

    def first(self, key: str | None) -> Numbered | None:
        """The first suppression for a key; each key is compared with each glob once."""
        if key not in self._found:
            speaks = (
                entry
                for glob, entry in self._by_key.items()
                if glob is None
                or (key is not None and (glob == key or (is_glob(glob) and glob_pattern(glob).match(key) is not None)))
            )
            self._found[key] = next(speaks, None)
        return self._found[key]
