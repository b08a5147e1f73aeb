"""Findings that are there only because the files change earlier registrations.

A removed kernel has no place, and those that stay are mostly not the user's; what a check finds then is the user's all
the same. So each check also looks at the operators that the changes concern, with and without the changes, as if all of
it were the user's own. What it finds only with them is theirs, and has the place of the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from dispatch_cli.checks.check import Check, Finding, Group, Need, Related, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history import without_changes
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.declarations import OwnChange, Registrant
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import Universe

MILDEST = len(Severity)
"""A rank that is milder than those of all severities."""
MOST_NOTES = 3
"""Further changes that a finding names."""


class Finder:
    """Finds what checks find in a view, each once. What the files' changes bring about has the place of the change."""

    def __init__(self, view: View) -> None:
        self.view = view

    def find(self, check: Check) -> Iterator[Finding]:
        """Findings of a check."""
        # a guard says what its author wants, and has its own place
        if not self.view.changes or Need.BUILT in check.needs or check.code.startswith(Group.INTENTIONS.value):
            yield from check.find(self.view)
            return
        left: dict[object, list[Finding]] = {}
        for finding in self._brought_about(check):
            left.setdefault(finding.identity, []).append(_placed(finding, self._changes))
        for finding in check.find(self.view):
            same = left.get(finding.identity)
            yield same.pop(0) if same else finding
        for those in left.values():
            yield from those

    def _brought_about(self, check: Check) -> Iterator[Finding]:
        after, before = self._with_and_without
        findings = [*check.find(after)]
        yield from new_findings(findings, [*check.find(before)] if findings else ())

    @cached_property
    def _changes(self) -> ChangeIndex:
        return ChangeIndex(self.view.changes, self.view.universe)

    @cached_property
    def _with_and_without(self) -> tuple[View, View]:
        """The operators that the changes concern, with and without the changes."""
        state = self.view.state
        return _answerable(self.view, state), _answerable(self.view, without_changes(state))


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
    """Changes by the operators that they are of, so that each finding looks at few of them."""

    def __init__(self, changes: Iterable[OwnChange], universe: Universe) -> None:
        self._universe = universe
        self._by_family: dict[str | None, list[OwnChange]] = {}
        for change in changes:
            family = None if change.operator is None else family_of(change.operator)
            self._by_family.setdefault(family, []).append(change)

    def causes(self, operator: str | None, *keys: str | None) -> list[OwnChange]:
        """The changes that can have led to a finding: of its operator, of other forms of it, of backend fallbacks.

        Of these, those at its keys, where there are some.
        """
        name = None if operator is None else OperatorName.parse(operator)
        of_forms = [] if name is None else self._by_family.get(family_of(name), [])
        of_operator = [change for change in of_forms if change.operator == name]
        candidates = [*(of_operator or of_forms), *self._by_family.get(None, ())]
        slots = frozenset(keys)
        covered = self._universe.covered_by
        return [it for it in candidates if not slots.isdisjoint((it.key, *covered(it.key)))] or candidates


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


def family_of(name: OperatorName) -> str:
    """Name that the overloads and the in-place and functional forms of an operator have in common."""
    return name.name.removesuffix("_")


def forms_of(view: View, names: Iterable[OperatorName]) -> list[OperatorName]:
    """The operators of these names that are there, with their overloads and in-place and functional forms, by name."""
    families = {family_of(name) for name in names}
    forms = (name for family in families for form in (family, f"{family}_") for name in view.overloads.get(form, ()))
    return sorted(forms, key=str)


class _Answerable(View):
    """A state for whose operators the user is to answer, whoever registered what."""

    def is_own(self, registration: Registration) -> bool:
        """True, but for PyTorch's fallbacks."""
        return registration.operator is not None or super().is_own(registration)

    def registrant(self, registration: Registration) -> Registrant:  # noqa: ARG002 (everything is the user's)
        """The user."""
        return Registrant.USER

    @cached_property
    def own(self) -> frozenset[OperatorName]:
        """The operators of the view."""
        return frozenset(self.operators)

    def answers_for_schema(self, name: OperatorName) -> bool:  # noqa: ARG002 (everything is the user's)
        """True."""
        return True

    @cached_property
    def has_files(self) -> bool:
        """True."""
        return True

    @cached_property
    def changes(self) -> tuple[OwnChange, ...]:
        """None: they are compared from outside."""
        return ()


def _answerable(view: View, state: State) -> View:
    names = changed_operators(view, state)
    is_whole = _of_fallbacks(view) and view.guarded is None
    return _Answerable(state, names, None if is_whole else frozenset(names), first=view.first)


def changed_operators(view: View, state: State) -> Sequence[OperatorName]:
    """The operators of a state that a view's changes concern, of those that the view is to look at."""
    everything = View(state, ())
    if _of_fallbacks(view):  # these can fill slots of every operator
        names: Sequence[OperatorName] = everything.names
    else:
        names = forms_of(everything, (change.operator for change in view.changes if change.operator is not None))
    asked = view.guarded
    return names if asked is None else [name for name in names if name in asked]


def _of_fallbacks(view: View) -> bool:
    return any(change.operator is None for change in view.changes)
