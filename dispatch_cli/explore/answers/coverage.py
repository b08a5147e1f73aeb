"""What serves each operator on a backend."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dispatch_cli.answers.coverage.document import filtered
from dispatch_cli.answers.coverage.report import CoverageReport, coverage_report, overlay_of
from dispatch_cli.engine.coverage.answers import Service
from dispatch_cli.engine.coverage.backend import CoveredBackend, backend_keys, backend_named, backend_of
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.names import OperatorName


class ListedOperators(NamedTuple):
    """Which operators are listed: those that nothing serves, those that are served in a way, those with some words."""

    missing: bool = False
    service: Service | None = None
    words: str = ""

    def of(self, answer: PaneAnswer) -> PaneAnswer:
        """An answer that lists all operators, with these alone."""
        report: CoverageReport = answer.report
        rows = (row for row in report.operators if row.served is False or not self.missing)
        chosen = replace(
            report,
            missing_only=self.missing,
            served_by=() if self.service is None else (self.service,),
            operators=tuple(row for row in rows if row.service is self.service or self.service is None),
        )
        flags = ["--missing"] if self.missing else []
        flags += [] if self.service is None else ["--served-by", self.service.value]
        flags += ["--filter", self.words] if self.words.strip() else []
        return PaneAnswer(filtered(chosen, self.words), (*answer.command, *flags))


def coverage_answer(session: Session, key: str) -> PaneAnswer | None:
    """What serves the operators at a backend's key; None where that is no backend's."""
    state = session.state
    backend = backend_named(state.dispatcher.universe, key)
    if backend is None:
        return None
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    report = coverage_report(state, backend, names, overlay=overlay_of(state, backend))
    return PaneAnswer(report, session.command("coverage", before=(key,)))


def backends(session: Session) -> list[CoveredBackend]:
    """The backends that can be asked for."""
    universe = session.state.dispatcher.universe
    return [backend_of(universe, key) for key in backend_keys(universe)]
