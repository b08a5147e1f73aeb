"""The guards of a state, and whether each holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.catalogue import guard as guard_check
from dispatch_cli.checks.catalogue import unmatched_guard
from dispatch_cli.checks.guarding import Guards
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


class GuardRow(NamedTuple):
    """A guard, and whether it holds.

    ops, keys, excepted: globs.
    wants: what it asks for, by field; text: the same in one line. reason: why it must hold.
    through: the entries of ``extends`` that led to it.
    operators, slots: how many it is about. broken_count: in how many places it does not hold, which check-invariants
    lists.
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
    guards = Guards(view)
    suppressions = Suppressions(view, CHECKS, frozenset((guard_check.CHECK.id, unmatched_guard.CHECK.id)))
    rows = (_row(view, guards, suppressions, guard) for guard in state.declarations.guards)
    return GuardsReport(state.dispatcher.universe.name, state.over_assumed, tuple(rows))


def _row(view: View, guards: Guards, suppressions: Suppressions, guard: Guard) -> GuardRow:
    """A guard; what is suppressed is so as in a run of the checks."""
    unmatched = [unmatched_guard.finding_of(guard, *glob) for glob in guards.unmatched(guard)]
    violations = ((name, violation) for name, listed in guards.broken(guard) for violation in listed)
    broken = [guard_check.finding_of(view, guard, name, violation) for name, violation in violations]
    unmatched_left = [finding for finding in unmatched if suppressions.of(finding) is None]
    broken_left = [finding for finding in broken if suppressions.of(finding) is None]
    verdict = GuardStatus.HOLDS
    if unmatched_left:
        verdict = GuardStatus.GUARDS_NOTHING
    elif broken_left:
        verdict = GuardStatus.BROKEN
    elif unmatched or broken:
        verdict = GuardStatus.SUPPRESSED
    operators = len(guards.operators(guard))
    return GuardRow(
        ops=guard.ops,
        keys=guard.keys,
        excepted=guard.excepted,
        wants={want.field: want.texts for want in guard.wants},
        text=guard_check.wants_text(guard),
        reason=guard.reason,
        span=guard.span,
        through=guard.through,
        verdict=verdict,
        operators=operators,
        slots=operators * len(guards.keys(guard)),
        broken_count=len(broken_left),
    )
