"""The suppressions of files that a change makes useless, or useful again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.catalogue.unused_suppression import finding_of
from dispatch_cli.checks.check import Finding, Need
from dispatch_cli.checks.run import CheckRun, run_checks
from dispatch_cli.checks.suppressions import Suppressions
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.settings import Suppression

_Uses = Counter[Suppression]
"""Number of findings that each suppression suppresses."""
_USES: WeakKeyDictionary[State, _Uses] = WeakKeyDictionary()
"""Counts of whole states, kept since all checks have to run once for them."""


def unused_effect(
    before: State, old: Iterable[CheckRun], new: Iterable[CheckRun]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings about suppressions that suppress nothing, which come with a change, and which go.

    before: the state without it. old, new: the runs of checks about the operators that it touches, without and with it.
    """
    asked = _asked(before)
    if not asked:
        return (), ()
    own = frozenset(map(str, before.own_operators()))
    uses, was, became = _uses(before), _count(old, own), _count(new, own)
    after = {suppression: uses[suppression] - was[suppression] + became[suppression] for suppression in asked}
    return (
        tuple(finding_of(suppression) for suppression in asked if uses[suppression] and not after[suppression]),
        tuple(finding_of(suppression) for suppression in asked if after[suppression] and not uses[suppression]),
    )


def _asked(state: State) -> tuple[Suppression, ...]:
    """The suppressions of the user's own files, of whose checks none needs a built library."""
    running = frozenset(check.id for check in CHECKS if Need.BUILT not in check.needs)
    return Suppressions(View(state, ()), CHECKS, running).unused()


def _uses(state: State) -> _Uses:
    uses = _USES.get(state)
    if uses is None:
        own = state.own_operators()
        view = View(state, own, None, higher_order=state.own_higher_order_operators())
        uses = _USES[state] = _count([run_checks(view, CHECKS, CHECKS)], frozenset(map(str, own)))
    return uses


def _count(runs: Iterable[CheckRun], own: frozenset[str]) -> _Uses:
    """Count findings about operators of the files, and about no operator."""
    uses = _Uses()
    for run in runs:
        uses.update(item.by for item in run.suppressed if item.finding.operator is None or item.finding.operator in own)
    return uses
