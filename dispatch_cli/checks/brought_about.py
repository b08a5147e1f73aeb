"""What the files' own changes of earlier registrations bring about: findings that would not be there without them.

A removed kernel has no place, and those that stay are mostly not the user's; what a check finds then is the user's all
the same. So each check also looks at the operators that the changes concern, with and without the changes, as if all of
it were the user's own. What it finds only with them is theirs, and has the place of the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from dispatch_cli.checks.check import Bundle, Bundles, Check, CheckStage, Finding, Group, Need, Related
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.changed import without_changes
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.declarations import OwnChange, Registrant
from dispatch_cli.model.names import OperatorName

Made = Finding | Bundle | Bundles


def find(check: Check, view: View) -> Iterator[Made]:
    """What a check finds, once each. What the files' changes bring about has the place of the change."""
    changes = view.changes
    is_about_state = check.stage is not CheckStage.RUN and Need.BUILT not in check.needs
    # a guard says what its author wants, and has its own place
    if not changes or not is_about_state or check.code.startswith(Group.INTENTIONS.value):
        yield from check.find(view)
        return
    left: dict[object, list[Finding]] = {}
    for one in _brought_about(check, view):
        left.setdefault(_kind(one), []).append(_placed(one, changes, view))
    for found in check.find(view):
        same = left.get(_kind(found)) if isinstance(found, Finding) else None
        yield same.pop(0) if same else found
    for those in left.values():
        yield from those


def family_of(name: OperatorName) -> str:
    """What the overloads and the in-place and functional forms of an operator have in common."""
    return name.name.removesuffix("_")


def members(names: Iterable[str], families: frozenset[str]) -> Iterator[OperatorName]:
    """The operators of these names that are of one of the families."""
    stems = tuple(families)
    for text in names:
        if text.startswith(stems):
            name = OperatorName.parse(text)
            if family_of(name) in families:
                yield name


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

    @cached_property
    def has_files(self) -> bool:
        """True."""
        return True

    @cached_property
    def changes(self) -> tuple[OwnChange, ...]:
        """None: they are compared from outside."""
        return ()


def _both(view: View) -> Sequence[View]:
    """The operators that changes concern, with and without the changes; made once."""
    if not view.compared:
        view.compared = tuple(_answerable(view, state) for state in (view.state, without_changes(view.state)))
    return view.compared


def _answerable(view: View, state: State) -> View:
    of_fallbacks = any(one.operator is None for one in view.changes)
    texts = state.dispatcher.names()
    if of_fallbacks:  # these can fill slots of every operator
        names = [OperatorName.parse(text) for text in texts]
    else:
        families = frozenset(family_of(one.operator) for one in view.changes if one.operator is not None)
        names = [*members(texts, families)]
    asked = view.guarded
    if asked is not None:
        names = [name for name in names if name in asked]
    is_whole = of_fallbacks and asked is None
    return _Answerable(state, names, None if is_whole else frozenset(names), view.broken, first=view.first)


def _brought_about(check: Check, view: View) -> Iterator[Finding]:
    return come(*([*_findings(check, one)] for one in _both(view)))


def come(after: Sequence[Finding], before: Sequence[Finding]) -> Iterator[Finding]:
    """The findings that are there after changes only; not those that have another key than before, or are milder."""
    gone: dict[object, list[Finding]] = {}
    for one in beyond(before, after, _with_severity):
        gone.setdefault((one.check, one.operator, one.subject), []).append(one)
    for one in beyond(after, before, _with_severity):
        earlier = gone.get((one.check, one.operator, one.subject), [])
        same = next((was for was in earlier if was.severity.rank <= one.severity.rank), None)
        if same is None:
            yield one
        else:
            earlier.remove(same)


def _findings(check: Check, view: View) -> Iterator[Finding]:
    return (one for one in check.find(view) if isinstance(one, Finding))


def _kind(finding: Finding) -> tuple[object, ...]:
    """Equal for findings of the same."""
    return finding.check, finding.operator, finding.key, finding.subject


def _with_severity(finding: Finding) -> tuple[object, ...]:
    return *_kind(finding), finding.severity


def _placed(finding: Finding, changes: Sequence[OwnChange], view: View) -> Finding:
    cause, *others = _causes(finding, changes, view)
    notes = [Related("this change concerns it, too", one.span) for one in others[:_MOST_NOTES]]
    if finding.span is not None:
        notes.insert(0, Related("it is about the registration here", finding.span))
    tip = "leave the change out" if finding.tip is None else f"{finding.tip}; or leave the change out"
    return finding._replace(
        span=cause.span, mark=None, mark_follows=False, related=(*finding.related, *notes), tip=tip, group_message=None
    )


_MOST_NOTES = 3


def _causes(finding: Finding, changes: Sequence[OwnChange], view: View) -> Sequence[OwnChange]:
    """The changes that can have led to a finding: of its operator, of other forms of it, or of backend fallbacks."""
    name = None if finding.operator is None else OperatorName.parse(finding.operator)
    of_fallbacks = [one for one in changes if one.operator is None]
    same = [one for one in changes if one.operator == name]
    forms = [one for one in changes if name and one.operator and family_of(one.operator) == family_of(name)]
    found = [*(same if name is not None and same else forms), *of_fallbacks] or changes
    covered = view.universe.covered_by
    at_key = [one for one in found if finding.key is not None and finding.key in (one.key, *covered(one.key))]
    return at_key or found
