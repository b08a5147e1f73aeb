"""Selection of the checks that run, by id, by code or by the start of either, and of the findings that count.

Two places can say it: the project file and the command line, in this order. Each that selects checks starts anew from
what it selects; each can then take checks away. A suppression takes findings away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.settings import CheckSettings, Selector, Suppression
from dispatch_cli.model.text.glob import glob_pattern, is_glob
from dispatch_cli.model.text.suggest import similar

if TYPE_CHECKING:
    from dispatch_cli.checks.view import View

ALL = "all"
DEFAULT = "default"


class UnknownCheck(Exception):
    """A selector that chooses no check of *checks*."""

    def __init__(self, selector: Selector, checks: Sequence[Check]) -> None:
        super().__init__(f"there is no check {selector.text[:200]!r}")
        self.selector = selector
        self._checks = checks

    @property
    def hint(self) -> str:
        """Advice: a similar selector, which may be meant."""
        similar = _similar(self._checks, _plain(self.selector))
        return f"did you mean {similar}?" if similar else "`dispatch-cli checks` lists the checks"

    @classmethod
    def of(cls, checks: Sequence[Check], selector: Selector) -> UnknownCheck | None:
        """The error of a selector; None where it chooses a check."""
        try:
            choose(checks, selector)
        except UnknownCheck as error:
            return error
        return None


def choose(checks: Sequence[Check], selector: Selector) -> frozenset[str]:
    """The ids of the checks that a selector chooses. Errors: UnknownCheck when it chooses none.

    An id or a code as a whole chooses that check alone, even where it is the beginning of another.
    """
    lower = _plain(selector)
    if lower == ALL:
        return frozenset(check.id for check in checks)
    if lower == DEFAULT:
        return frozenset(check.id for check in checks if check.default)
    whole = frozenset(check.id for check in checks if lower in (check.id, check.code.lower()))
    ids = whole or frozenset(
        check.id for check in checks if lower and (check.id.startswith(lower) or check.code.lower().startswith(lower))
    )
    if not ids:
        raise UnknownCheck(selector, checks)
    return ids


def unknown(checks: Sequence[Check], selectors: Iterable[Selector]) -> tuple[UnknownCheck, ...]:
    """Errors of the selectors that choose no check; each once."""
    errors = {selector: UnknownCheck.of(checks, selector) for selector in selectors}
    return tuple(error for error in errors.values() if error is not None)


def chosen(checks: Sequence[Check], places: Iterable[CheckSettings]) -> tuple[Check, ...]:
    """The checks to run, in their order. places: those that say something, the weakest first.

    Errors: UnknownCheck.
    """
    ids = choose(checks, Selector(DEFAULT))
    for place in places:
        if place.select is not None:
            ids = _union(checks, place.select)
        ids -= _union(checks, place.ignore)
    return tuple(check for check in checks if check.id in ids)


def severities(checks: Sequence[Check], places: Iterable[CheckSettings]) -> dict[str, Severity]:
    """The severity of each check whose own is overruled. places: the weakest first. Errors: UnknownCheck."""
    by_check: dict[str, Severity] = {}
    for place in places:
        for selector, severity in place.severities:
            by_check |= dict.fromkeys(choose(checks, selector), severity)
    return by_check


def _plain(selector: Selector) -> str:
    return selector.text.strip().lower().replace("_", "-")


def _union(checks: Sequence[Check], selectors: Iterable[Selector]) -> frozenset[str]:
    return frozenset[str]().union(*(choose(checks, selector) for selector in selectors))


def _similar(checks: Sequence[Check], text: str) -> str | None:
    matches = similar(text, [ALL, DEFAULT, *(check.id for check in checks)])
    matches = matches or similar(text, [check.code for check in checks], cutoff=0.8)
    return matches[0] if matches else None


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
