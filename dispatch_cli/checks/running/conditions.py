"""Findings over all variants of conditional registrations: each once, with the conditions under which it holds.

The first variant has all operators. Each further one is looked at for the operators of which it has a case that is new
(`engine.variants`). A finding holds for a case if it is made in the variant that has the case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.running.brought_about import Finder
from dispatch_cli.checks.view import View
from dispatch_cli.engine.variants import FALLBACKS, Family
from dispatch_cli.model.conditions.simplify import any_of, cover, short_text, simplified, terms
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span

MOST_CONDITIONS = 100
"""Conditions of an operator that are looked at to say when a finding holds."""
_ALSO = "the same holds for the registration here, under other conditions"
_ByPlace = dict[Span | None, tuple[Finding, set[int]]]
"""A finding at each place, and the cases for which it holds."""


class OtherVariant(NamedTuple):
    """view: of a further variant. cases: of the units that are looked at in it, by position."""

    view: View
    cases: Mapping[str, int]


class Conditions:
    """The conditions of a run. families: of the units that have conditions. first: their cases in the first variant.

    guards: atoms such that a finding is an info if one of them is false in every case for which it holds.
    """

    def __init__(
        self,
        families: Mapping[str, Family],
        first: Mapping[str, int],
        others: Sequence[OtherVariant] = (),
        guards: Set[str] = frozenset(),
    ) -> None:
        self._guards = guards
        self._families = families
        self._first = first
        self._others = [(Finder(view), cases) for view, cases in others]
        self._said: dict[tuple[int, frozenset[int]], str] = {}

    def find(self, check: Check, finder: Finder, has_needs: Callable[[View], bool]) -> Iterator[Finding]:
        """Findings of a check in any variant. finder: of the first one."""
        held: dict[tuple[object, ...], _ByPlace] = {}
        others = [(other, cases) for other, cases in self._others if has_needs(other.view)]
        for variant, cases in ((finder, self._first), *others):
            counts: Counter[tuple[object, ...]] = Counter()
            for finding in variant.find(check):
                unit = _unit(finding)
                if unit in self._families and (variant is finder or unit in cases):
                    # as for a baseline, the first, second … of a kind in two variants are the same
                    counts[finding.identity] += 1
                    by_place = held.setdefault((*finding.identity, counts[finding.identity]), {})
                    by_place.setdefault(finding.span, (finding, set()))[1].add(cases.get(unit, -1))
                elif variant is finder:
                    yield finding
        for by_place in held.values():
            (finding, _), *same = by_place.values()
            family = self._families[_unit(finding)]
            positions = frozenset(case for _, those in by_place.values() for case in those)
            notes = [Related(_ALSO, item.span) for item, _ in same if item.span is not None]
            finding = finding._replace(related=(*finding.related, *notes))
            if finding.severity is not Severity.INFO and all(self._is_left(family, case) for case in positions):
                finding = finding._replace(severity=Severity.INFO)
            yield _conditional(finding, self._when(family, positions))

    def _is_left(self, family: Family, case: int) -> bool:
        """True if a guard is false in the case."""
        if case < 0:
            return False
        known = family.cases[case].known
        return any(known.get(guard) is False for guard in self._guards)

    def _when(self, family: Family, cases: frozenset[int]) -> str | None:
        text = self._said.get((id(family), cases))
        if text is None:
            text = self._said[id(family), cases] = when_text(family, cases)
        return text or None


def _conditional(finding: Finding, when: str | None) -> Finding:
    """A finding that says under which conditions it holds."""
    when = when or finding.when
    if when is None:
        return finding
    group = finding.group_message
    worded = finding._replace(message=f"{finding.message} (when {when})", when=when)
    return worded if group is None else worded._replace(group_message=f"{group} (when {when})")


def _unit(finding: Finding) -> str:
    return FALLBACKS if finding.operator is None else OperatorName.parse(finding.operator).name


def when_text(family: Family, positions: frozenset[int]) -> str:
    """The conditions under which the cases at these positions hold, and no others; empty where all do.

    They are a few conjunctions of conditions of the registrations, or of their opposites, of which one holds at least.
    What is superfluous in them is left out.
    """
    cases = family.cases
    inside = [case.values for position, case in enumerate(cases) if position in positions]
    outside = [case.values for position, case in enumerate(cases) if position not in positions]
    if not outside or not inside:
        return ""
    if len(family.conditions) > MOST_CONDITIONS:
        return f"some of {len(cases)} combinations of {len(family.conditions)} conditions"
    shorter = simplified(any_of(terms(cover(inside, outside), family.conditions)))
    return "" if shorter is None else short_text(shorter)
