"""The guards of a state, and whether each holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.catalogue import guard as guard_check
from dispatch_cli.checks.catalogue import unmatched_guard
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.guarding import Guards, Violation
from dispatch_cli.checks.running.listing import OF_GROUP
from dispatch_cli.checks.running.selection import Suppressions
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.guard import Guard, GuardField
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class GuardStatus(Enum):
    """Status of a guard; one that matches nothing does not hold.

    SUPPRESSED: it does not hold, and the declarations say that this is meant to be so.
    """

    HOLDS = "holds"
    BROKEN = "broken"
    GUARDS_NOTHING = "guards-nothing"
    SUPPRESSED = "suppressed"


class UnmatchedGlob(NamedTuple):
    """A glob that matches nothing. kind: the word for what it should match."""

    kind: str
    glob: str


class BrokenGuard(NamedTuple):
    """Violation of a guard by one operator: the slots, what is wanted and what is there, in words."""

    operator: str
    keys: tuple[str, ...]
    wanted: str
    found: str


class SuppressedGuard(NamedTuple):
    """A finding about a guard that the declarations say is meant to be so. reason, by: why, and where they say it."""

    message: str
    reason: str
    by: Span


class GuardRow(NamedTuple):
    """A guard, and whether it holds.

    ops, keys, excepted: globs.
    wants: what it asks for, by field; text: the same in one line. reason: why it must hold.
    through: the entries of ``extends`` that led to it.
    operators, slots: how many it is about.
    unmatched, broken: what check-invariants finds; of broken places the first. broken_count: how many there are.
    suppressed: the first of what it would find, had the declarations not said why it is meant to be so.
    """

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    excepted: tuple[str, ...]
    wants: Mapping[GuardField, tuple[str, ...]]
    text: str
    reason: str | None
    span: Span | None
    through: tuple[Span, ...]
    verdict: GuardStatus
    operators: int
    slots: int
    broken_count: int
    unmatched: tuple[UnmatchedGlob, ...]
    broken: tuple[BrokenGuard, ...]
    suppressed: tuple[SuppressedGuard, ...]


@dataclass(frozen=True, slots=True)
class GuardsReport:
    """guards: in the order they are declared.

    over_assumed: as in `StartsFrom`.
    """

    REPORT: ClassVar[str] = "guards"

    universe: str
    over_assumed: bool
    guards: tuple[GuardRow, ...]

    @property
    def failing(self) -> bool:
        """True if a guard does not hold, and the declarations do not suppress that."""
        return any(row.verdict in (GuardStatus.BROKEN, GuardStatus.GUARDS_NOTHING) for row in self.guards)


def guards_report(state: State, about: frozenset[OperatorName] | None) -> GuardsReport:
    """The guards of a state. about: the operators that they may speak of; None for all.

    Errors: UnknownCheck for a suppression that names a check that is none.
    """
    view = View(state, (), about)
    reader = _Reader(view, Guards(view))
    rows = tuple(map(reader.row, state.declarations.guards))
    return GuardsReport(state.dispatcher.universe.name, state.over_assumed, rows)


OF_REPORT = 10_000
"""Number of broken places that are listed of all guards; of further guards, one each."""


class _Broken:
    """Number of places where a guard does not hold, and the first *most* of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0
        self.listed: list[BrokenGuard] = []


class _Reader:
    """Makes the rows; what is suppressed is so as in a run of the checks."""

    def __init__(self, view: View, guards: Guards) -> None:
        self.guards = guards
        self._view = view
        self._slot = view.universe.slot
        self._listed = 0
        self._suppressions = Suppressions(view, CHECKS, frozenset((guard_check.CHECK.id, unmatched_guard.CHECK.id)))

    def row(self, guard: Guard) -> GuardRow:
        """One guard."""
        guards, suppressed = self.guards, list[SuppressedGuard]()
        operators = len(guards.operators(guard))
        unmatched = tuple(
            UnmatchedGlob(kind, glob)
            for kind, glob in guards.unmatched(guard)
            if not self._is_suppressed(unmatched_guard.finding_of(guard, kind, glob), suppressed)
        )
        broken = _Broken(OF_GROUP if self._listed < OF_REPORT else 1)
        for name, violations in guards.broken(guard):
            self._add(guard, name, violations, broken, suppressed)
        self._listed += len(broken.listed)
        return GuardRow(
            ops=guard.ops,
            keys=guard.keys,
            excepted=guard.excepted,
            wants={want.field: want.texts for want in guard.wants},
            text=guard_check.wants_text(guard),
            reason=guard.reason,
            span=guard.span,
            through=guard.through,
            verdict=_verdict(unmatched, broken.count, suppressed),
            operators=operators,
            slots=operators * len(guards.keys(guard)),
            broken_count=broken.count,
            unmatched=unmatched,
            broken=tuple(broken.listed),
            suppressed=tuple(suppressed),
        )

    def _add(
        self,
        guard: Guard,
        name: OperatorName,
        violations: Sequence[Violation],
        broken: _Broken,
        suppressed: list[SuppressedGuard],
    ) -> None:
        """Count the violations by one operator, and note the first."""
        for violation in sorted(violations, key=lambda violation: self._slot[violation.key]):
            if self._is_suppressed(guard_check.finding_of(self._view, guard, name, violation), suppressed):
                continue
            broken.count += 1
            if len(broken.listed) < broken.most:
                broken.listed.append(BrokenGuard(str(name), violation.keys, violation.wanted, violation.found))

    def _is_suppressed(self, finding: Finding, noted: list[SuppressedGuard]) -> bool:
        """True if the declarations suppress a finding; then it is noted."""
        by = self._suppressions.of(finding)
        if by is not None and len(noted) < OF_GROUP:
            noted.append(SuppressedGuard(finding.message, by.reason, by.span))
        return by is not None


def _verdict(unmatched: Sequence[UnmatchedGlob], broken: int, suppressed: Sequence[SuppressedGuard]) -> GuardStatus:
    if unmatched:
        return GuardStatus.GUARDS_NOTHING
    if broken:
        return GuardStatus.BROKEN
    return GuardStatus.SUPPRESSED if suppressed else GuardStatus.HOLDS
