"""The findings of a state, as ``check-invariants`` gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dispatch_cli import api
from dispatch_cli.answers.findings.baseline import BaselineFilter
from dispatch_cli.answers.findings.checked import checked_operators
from dispatch_cli.answers.findings.report import FindingsReport, findings_report
from dispatch_cli.checks.running.listing import Limits
from dispatch_cli.checks.running.run import Progress
from dispatch_cli.engine.state import State
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName

ALL = ("--severity", "info", "--full")
"""Options with which the text of the command lists all that the view does."""


def findings_answer(session: Session, state: State | None = None, progress: Progress | None = None) -> PaneAnswer:
    """The findings of a session's state. state: a snapshot of it (`state_to_check`), for a thread."""
    state = state_to_check(session) if state is None else state
    report = _report(session, state, *checked_operators(state, bool(session.files or session.tried_file)), progress)
    return PaneAnswer(report, session.command("check-invariants", *ALL))


def findings_search(session: Session) -> Callable[[Progress], PaneAnswer]:
    """A function that gives the findings of a session's state, as it is now, and may run in a thread."""
    if session.state is session.original:
        return original_search(session)
    copy = state_to_check(session)
    return lambda progress: findings_answer(session, copy, progress)


def original_search(session: Session) -> Callable[[Progress], PaneAnswer]:
    """A function that gives the findings without the changes on trial, and may run in a thread.

    Several views need them; they are looked for once.
    """
    copy, cache, is_of_files = state_before(session), session.original_findings, bool(session.files)
    command = session.command_before("check-invariants", *ALL)

    def find(progress: Progress) -> FindingsReport:
        return _report(session, copy, *checked_operators(copy, is_of_files), progress)

    return lambda progress: PaneAnswer(cache.get(lambda: find(progress)), command)


def _report(
    session: Session,
    state: State,
    names: Iterable[OperatorName],
    higher_order: Sequence[HigherOrderOperator],
    progress: Progress | None,
) -> FindingsReport:
    setup = session.checks
    return findings_report(
        state,
        names,
        settings=setup.settings,
        baseline=None if setup.baseline is None else BaselineFilter(setup.baseline),
        progress=progress,
        higher_order=higher_order,
        limits=Limits(),
        further=api.further_states(state),
    )


def state_to_check(session: Session) -> State:
    """A state for a run of the checks alone, with the guards that the project names."""
    return snapshot(session.state, session.checks.guarded)


def state_before(session: Session) -> State:
    """The same without the changes on trial."""
    return snapshot(session.original, session.checks.guarded)
