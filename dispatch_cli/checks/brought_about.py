"""Findings that are there only because the files change earlier registrations.

A removed kernel has no place, and those that stay are mostly not the user's; what a check finds then is the user's all
the same. So each check also looks at the operators that the changes concern, with and without the changes, as if all of
it were the user's own. What it finds only with them is theirs, and has the place of the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, Group, Need, Related, Severity
from dispatch_cli.checks.compared import family_of, with_and_without
from dispatch_cli.checks.view import View
from dispatch_cli.model.declarations import OwnChange
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import Universe

MILDEST = len(Severity)
"""A rank that is milder than those of all severities."""


def find(check: Check, view: View) -> Iterator[Finding]:
    """Findings of a check, each once. Those that the files' changes bring about have the place of the change."""
    # a guard says what its author wants, and has its own place
    if not view.changes or Need.BUILT in check.needs or check.code.startswith(Group.INTENTIONS.value):
        yield from check.find(view)
        return
    left: dict[object, list[Finding]] = {}
    changes = ChangeIndex(view.changes, view.universe)
    for finding in _brought_about(check, view):
        left.setdefault(finding.identity, []).append(_placed(finding, changes))
    for finding in check.find(view):
        same = left.get(finding.identity)
        yield same.pop(0) if same else finding
    for those in left.values():
        yield from those


def _brought_about(check: Check, view: View) -> Iterator[Finding]:
    after, before = with_and_without(view)
    findings = [*check.find(after)]
    yield from new_findings(findings, [*check.find(before)] if findings else ())


def new_findings(after: Sequence[Finding], before: Sequence[Finding]) -> Iterator[Finding]:
    """The findings after changes that are worse than before: about a slot of which the check found nothing as bad."""
    worst: dict[object, int] = {}
    for finding in before:
        for what in finding.about:
            rank = worst.get((finding.check, what), finding.severity.rank)
            worst[finding.check, what] = min(rank, finding.severity.rank)
    for finding in after:
        if any(worst.get((finding.check, what), MILDEST) > finding.severity.rank for what in finding.about):
            yield finding


class ChangeIndex:
    """Changes by what they are of, so that each finding looks at few of them."""

    def __init__(self, changes: Iterable[OwnChange], universe: Universe) -> None:
        self._universe = universe
        self._all: dict[OperatorName | str | None, dict[str, list[OwnChange]]] = {}
        for change in changes:
            for whose in (change.operator, *(() if change.operator is None else (family_of(change.operator),))):
                self._all.setdefault(whose, {}).setdefault(change.key, []).append(change)

    def causes(self, operator: str | None, *keys: str | None) -> list[OwnChange]:
        """The changes that can have led to a finding: of its operator, of other forms of it, of backend fallbacks.

        Of these, those at its keys, where there are some.
        """
        name = None if operator is None else OperatorName.parse(operator)
        of_operator = {} if name is None else self._all.get(name) or self._all.get(family_of(name), {})
        of_fallbacks = self._all.get(None, {})
        candidates = [(at, those) for part in (of_operator, of_fallbacks) for at, those in part.items()]
        covered, at_keys = self._universe.covered_by, frozenset(keys)
        at_key = [those for at, those in candidates if not at_keys.isdisjoint((at, *covered(at)))]
        return [change for those in at_key or [those for _, those in candidates] for change in those[: MOST_NOTES + 1]]


MOST_NOTES = 3
"""Further changes that a finding names."""


def _placed(finding: Finding, changes: ChangeIndex) -> Finding:
    """A finding at the place of the change that led to it; as it is where none is known to."""
    causes = changes.causes(finding.operator, finding.key, *(key for _, key in finding.slots))
    if not causes:
        return finding
    notes = [Related("this change concerns it, too", cause.span) for cause in causes[1 : MOST_NOTES + 1]]
    if finding.span is not None:
        notes.insert(0, Related("it is about the registration here", finding.span))
    tip = "leave the change out" if finding.tip is None else f"{finding.tip}; or leave the change out"
    related = (*finding.related, *notes)
    return finding._replace(
        span=causes[0].span, mark=None, mark_follows=False, related=related, tip=tip, group_message=None
    )
