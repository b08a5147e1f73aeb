"""The findings of a state, as ``check-invariants`` gives them."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli import api
from dispatch_cli.answers.findings.baseline import BaselineFilter
from dispatch_cli.answers.findings.checked import checked_operators
from dispatch_cli.answers.findings.report import FindingsReport, findings_report
from dispatch_cli.checks.running.listing import Limits
from dispatch_cli.checks.running.run import Progress
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.whatif.findings import Shared

ALL = ("--severity", "info", "--full")
"""Options with which the text of the command lists all that the view does."""


def findings_search(session: Session, original: bool = False) -> Callable[[Progress | None], PaneAnswer]:
    """A function that gives the findings of a session's state, as it is now, and may run in a thread.

    original: without the changes on trial. Several views need these; they are looked for once.
    """
    original = original or session.state is session.original
    state = snapshot(session.original if original else session.state, session.checks.guarded)
    shared: Shared[FindingsReport] = session.original_findings if original else Shared()
    setup, has_files = session.checks, bool(session.files or (session.tried_file and not original))
    command = session.command_before if original else session.command

    def find(progress: Progress | None) -> FindingsReport:
        names, higher_order = checked_operators(state, has_files)
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

    answer = command("check-invariants", *ALL)
    return lambda progress: PaneAnswer(shared.get(lambda: find(progress)), answer)
