"""The findings that come and go with changes, and the suppressions that these make useless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from dispatch_cli.answers.findings.baseline.report import Entry
from dispatch_cli.answers.findings.report import placed
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.brought_about import forms_of, new_findings
from dispatch_cli.checks.catalogue.unused_suppression import finding_of
from dispatch_cli.checks.check import Finding, Need
from dispatch_cli.checks.run import CheckRun, run_checks
from dispatch_cli.checks.suppressions import Suppressions
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import Suppression

Result = TypeVar("Result")
_Uses = Counter[Suppression]
"""Number of findings that each suppression suppresses."""
_USES: WeakKeyDictionary[State, _Uses] = WeakKeyDictionary()
"""Counts of whole states, kept since all checks have to run once for them."""


class Shared(Generic[Result]):
    """A value that the first thread that asks for it makes, while others that ask wait."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._results: list[Result] = []

    def get(self, make: Callable[[], Result]) -> Result:
        """The value. Errors: those of *make*; then the next one that asks makes it."""
        with self._lock:
            if not self._results:
                self._results.append(make())
            return self._results[0]


class Touched(NamedTuple):
    """Extent of a change. operators: by name. keys: of backend fallbacks, which concern every operator."""

    operators: frozenset[OperatorName] = frozenset()
    keys: frozenset[str] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        return Touched(self.operators | other.operators, self.keys | other.keys)


class FindingsEffect(NamedTuple):
    """The findings that come and go with changes."""

    new: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()


OF_LIBRARIES = frozenset({"no-fake-kernel"})
"""Checks whose findings depend on all operators that files register in a namespace."""
OF_RUNS = frozenset({"no-autocast-fallback", "reserved-namespace", "unknown-namespace"})
"""Checks that find something only where all operators of the files are looked at."""
MANY = 100
"""Operators whose checks take long."""
_OF_OPERATORS = frozenset(check.id for check in CHECKS) - OF_LIBRARIES - OF_RUNS


def _runs(state: State, touched: Touched, has_files: bool) -> list[CheckRun]:
    """Checks of the operators that a change touches, and of those of their family; all where a fallback is touched.

    has_files: whether findings are about what files register, and not about all that a captured state has; it must be
    the same for states that are compared.
    """
    if touched.keys:
        own = state.own_operators() if has_files else [OperatorName.parse(text) for text in state.dispatcher.names()]
        view = View(state, own, None, higher_order=state.own_higher_order_operators())
        view.has_files = has_files
        return [run_checks(view, CHECKS, CHECKS)]
    own = state.own_operators()
    namespaces = {name.namespace for name in touched.operators}
    names = _names(state, touched)
    of_operators = View(state, names, frozenset(names))
    libraries = [name for name in own if name.namespace in namespaces]
    others = View(state, libraries, frozenset(libraries)), View(state, own)
    runs = [_run(of_operators, has_files, _OF_OPERATORS)]
    for view, checks in zip(others, (OF_LIBRARIES, OF_RUNS), strict=True):
        runs.append(_run(view, has_files, checks))
    return runs


def takes_long(state: State, touched: Touched) -> bool:
    """True if so many operators have to be checked that nobody should wait for it."""
    if touched.keys or len(touched.operators) > MANY:
        return True
    namespaces = {name.namespace for name in touched.operators}
    return sum(name.namespace in namespaces for name in state.own_operators()) > MANY


def _run(view: View, has_files: bool, checks: frozenset[str]) -> CheckRun:
    view.has_files = has_files
    return run_checks(view, [check for check in CHECKS if check.id in checks], CHECKS)


def findings_effect(before: State, after: State, touched: Touched) -> FindingsEffect:
    """The findings that come and go between two states.

    Over an embedded state alone, they are about what the changes register: as where a file would register it.
    """
    of_files = has_files(before) or has_files(after)
    old, new = (_runs(state, touched, of_files) for state in (before, after))
    findings, before_findings = ([finding for run in runs for finding in run.findings] for runs in (new, old))
    if of_files:
        came = tuple(beyond(findings, before_findings, Entry.of))
        went = tuple(beyond(before_findings, findings, Entry.of))
    else:  # they are PyTorch's
        came, went = tuple(new_findings(findings, before_findings)), tuple(new_findings(before_findings, findings))
    if not touched.keys:  # else all checks have run over everything
        useless, useful = unused_effect(before, old, new)
        came, went = (*came, *useless), (*went, *useful)
    return FindingsEffect(tuple(placed(after, item) for item in came), tuple(placed(before, item) for item in went))


def has_files(state: State) -> bool:
    """True if findings of a state are about what its files register."""
    return View(state, ()).registers


def _names(state: State, touched: Touched) -> list[OperatorName]:
    """The operators touched, with their overloads and in-place and functional forms."""
    return forms_of(View(state, ()), touched.operators)


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
