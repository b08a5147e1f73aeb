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
        self._by_check: dict[str, _ByName] = {}
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
            suppression = self._of_check(finding.check).first(finding.operator, finding.key)
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

    def _of_check(self, check: str) -> _ByName:
        by_name = self._by_check.get(check)
        if by_name is None:
            by_name = self._by_check[check] = _ByName(entry for entry, ids in self._by_name if check in ids)
        return by_name

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


class _ByName:
    """The suppressions by name of one check; those for one operator are compared with findings about it alone."""

    def __init__(self, suppressions: Iterable[Suppression]) -> None:
        self._globs: dict[tuple[str | None, str | None], tuple[int, Suppression]] = {}
        self._of_operators: dict[str, dict[str | None, tuple[int, Suppression]]] = {}
        self._answers: dict[tuple[str | None, str | None], Suppression | None] = {}
        for entry in enumerate(suppressions):
            op, key = entry[1].op, entry[1].key
            if op is None or is_glob(op):
                self._globs.setdefault((op, key), entry)
            else:
                self._of_operators.setdefault(op, {}).setdefault(key, entry)

    def first(self, operator: str | None, key: str | None) -> Suppression | None:
        """The first suppression for an operator and a key."""
        if (operator, key) not in self._answers:
            own = self._of_operators.get(operator or "", {})
            matching = [entry for glob, entry in own.items() if _matches(glob, key)]
            matching += [
                entry for (op, glob), entry in self._globs.items() if _matches(op, operator) and _matches(glob, key)
            ]
            self._answers[operator, key] = min(matching, key=itemgetter(0), default=(0, None))[1]
        return self._answers[operator, key]


def _matches(glob: str | None, text: str | None) -> bool:
    """True if a suppression speaks of a text, or of all."""
    if glob is None or glob == text:
        return True
    return text is not None and is_glob(glob) and glob_pattern(glob).match(text) is not None
