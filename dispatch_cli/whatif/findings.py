"""The findings that come and go with changes."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from dispatch_cli.answers.findings.baseline import Entry
from dispatch_cli.answers.findings.report import placed
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.running.brought_about import forms_of, new_findings
from dispatch_cli.checks.running.run import CheckRun, run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.names import OperatorName

Result = TypeVar("Result")


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


class FindingsEffect(NamedTuple):
    """The findings that come and go with changes."""

    new: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()


OF_LIBRARIES = frozenset({"no-fake-kernel"})
"""Checks whose findings depend on all operators that files register in a namespace."""
OF_RUNS = frozenset({"no-autocast-fallback"})
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
    names = forms_of(View(state, ()), touched.operators)  # with their overloads, in-place and functional forms
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

    Over an embedded state alone, they are about what the changes register: as where a file would register it. Findings
    about suppressions that suppress nothing are left out.
    """
    of_files = has_files(before) or has_files(after)
    old, new = (_runs(state, touched, of_files) for state in (before, after))
    findings, before_findings = ([finding for run in runs for finding in run.findings] for runs in (new, old))
    if of_files:
        came = tuple(beyond(findings, before_findings, Entry.of))
        went = tuple(beyond(before_findings, findings, Entry.of))
    else:  # they are PyTorch's
        came, went = tuple(new_findings(findings, before_findings)), tuple(new_findings(before_findings, findings))
    return FindingsEffect(tuple(placed(after, item) for item in came), tuple(placed(before, item) for item in went))


def has_files(state: State) -> bool:
    """True if findings of a state are about what its files register."""
    return View(state, ()).registers
