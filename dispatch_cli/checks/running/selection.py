"""Selection of the checks that run, by id, by code or by the start of either, and of the findings that count.

Two places can say it: the project file and the command line, in this order. Each that selects checks starts anew from
what it selects; each can then take checks away. A suppression takes findings away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    errors = []
    for selector in dict.fromkeys(selectors):
        try:
            choose(checks, selector)
        except UnknownCheck as error:  # noqa: PERF203
            errors.append(error)
    return tuple(errors)


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
        self._ids: dict[Suppression, frozenset[str]] = {}
        self._by_line: dict[tuple[str, int], list[Suppression]] = {}
        self._by_name: dict[tuple[str, str | None], list[Suppression]] = {}  # check and operator; None for globs
        self._answers: dict[tuple[str, str | None, str | None], Suppression | None] = {}
        of_lines: dict[tuple[str, int, int], list[Suppression]] = {}
        for entry in self._all:
            ids = self._ids[entry] = frozenset[str]().union(*(choose(known, selector) for selector in entry.checks))
            if entry.line is not None:
                of_lines.setdefault((entry.span.file, entry.line, entry.last or entry.line), []).append(entry)
                continue
            operator = None if entry.op is None or is_glob(entry.op) else entry.op
            for check in ids:
                self._by_name.setdefault((check, operator), []).append(entry)
        for (file, first, last), those in of_lines.items():
            for line in range(first, last + 1):
                self._by_line.setdefault((file, line), []).extend(those)

    def of(self, finding: Finding) -> Suppression | None:
        """The suppression that a finding falls under: of its line, of its operator's definition, or of its name."""
        if not self._all:
            return None
        suppression = self._at(finding) or self._named(finding.check, finding.operator, finding.key)
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

    def _named(self, check: str, operator: str | None, key: str | None) -> Suppression | None:
        """The first suppression by name for an operator and a key; one for the operator alone comes before globs."""
        subject = check, operator, key
        if subject not in self._answers:
            own = () if operator is None else self._by_name.get((check, operator), ())
            entries = (*own, *self._by_name.get((check, None), ()))
            matching = (it for it in entries if _matches(it.op, operator) and _matches(it.key, key))
            self._answers[subject] = next(matching, None)
        return self._answers[subject]

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
        those = (entry for place in places for entry in self._by_line.get((place.file, place.line), ()))
        return next((entry for entry in those if finding.check in self._ids[entry]), None)


def _matches(glob: str | None, text: str | None) -> bool:
    """True if a suppression speaks of a text, or of all."""
    if glob is None or glob == text:
        return True
    return text is not None and is_glob(glob) and glob_pattern(glob).match(text) is not None
