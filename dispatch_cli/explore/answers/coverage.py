"""What serves each operator on a backend."""

from __future__ import annotations

from dispatch_cli.engine.coverage.backend import CoveredBackend, backend_keys, backend_named, backend_of
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.coverage import coverage_report, overlay_of


def coverage_answer(session: Session, key: str, missing: bool = False) -> PaneAnswer | None:
    """What serves the operators at a backend's key; None where that is no backend's. missing: only those not served."""
    state = session.state
    backend = backend_named(state.dispatcher.universe, key)
    if backend is None:
        return None
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    report = coverage_report(state, backend, names, missing=missing, overlay=overlay_of(state, backend))
    flags = ("--missing",) if missing else ()
    return PaneAnswer(report, session.command("coverage", *flags, before=(key,)))


def backends(session: Session) -> list[CoveredBackend]:
    """The backends that can be asked for."""
    universe = session.state.dispatcher.universe
    return [backend_of(universe, key) for key in backend_keys(universe)]
