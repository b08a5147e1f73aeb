"""Which findings are suppressed, and which suppressions have no finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.checks.selection import choose
from dispatch_cli.checks.view import View
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
        of_lines: dict[tuple[str, int, int], list[tuple[Suppression, frozenset[str]]]] = {}
        for one in self._all:
            ids = frozenset[str]().union(*(choose(known, selector) for selector in one.checks))
            self._ids[one] = ids
            if one.line is None:
                self._by_name.append((one, ids))
            else:
                of_lines.setdefault((one.span.file, one.line, one.last or one.line), []).append((one, ids))
        for (file, first, last), those in of_lines.items():
            for line in range(first, last + 1):
                self._by_line.setdefault((file, line), []).extend(those)

    def of(self, finding: Finding) -> Suppression | None:
        """The suppression that a finding falls under: of its line, of its operator's definition, or of its name."""
        if not self._all:
            return None
        for suppression, ids in (*self._at(finding), *self._by_name):
            if finding.check in ids and (suppression.line is not None or _names(suppression, finding)):
                self._used.add(suppression)
                return suppression
        return None

    def unused(self) -> tuple[Suppression, ...]:
        """The suppressions of the user's own files that suppressed nothing, although every check they name has run."""
        return tuple(
            one for one in self._all if one not in self._used and not one.inherited and self._ids[one] <= self._running
        )

    def _at(self, finding: Finding) -> list[tuple[Suppression, frozenset[str]]]:
        if not self._by_line:
            return []
        places = [] if finding.span is None else [finding.span]
        if finding.operator is not None:
            name = OperatorName.parse(finding.operator)
            defined = self._view.defined_at(name)
            if defined is not None:
                places.append(defined)
        return [one for place in places for one in self._by_line.get((place.file, place.line), ())]


def _names(suppression: Suppression, finding: Finding) -> bool:
    op, key = suppression.op, suppression.key
    return (op is None or (finding.operator is not None and _matcher(op).match(finding.operator) is not None)) and (
        key is None or (finding.key is not None and _matcher(key).match(finding.key) is not None)
    )


@cache
def _matcher(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
