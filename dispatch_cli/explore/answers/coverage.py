"""Coverage of a backend: what serves each operator."""

from __future__ import annotations

from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.report import coverage_report, with_tags
from dispatch_cli.answers.shared.selection import select_names
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.engine.coverage.answers import CoveredBackend, backend_keys, backend_named, backend_of
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.names import OperatorName


def coverage_answer(session: Session, key: str, group: tuple[str, ...] = ()) -> PaneAnswer | None:
    """Coverage of the operators at a backend's key; None if the key is no backend's.

    group: the options of the command that choose them; none for all.
    """
    state = session.state
    backend = backend_named(state.dispatcher.universe, key)
    if backend is None:
        return None
    all_names = state.dispatcher.names()
    by_name = select_names(all_names, group[1]) if group[:1] == ("--op",) else all_names
    names, tags = [OperatorName.parse(name) for name in by_name], group[1:] if group[:1] == ("--tag",) else ()
    names = with_tags(state, names, tags) if tags else names
    report = coverage_report(state, backend, names, tags, overlay=overlay_of(state.dispatcher, backend.key))
    return PaneAnswer(report, session.command("coverage", *group, before=(key,)))


def overview_answer(session: Session) -> PaneAnswer:
    """Groups of operators on all backends."""
    names = [OperatorName.parse(name) for name in session.state.dispatcher.names()]
    return PaneAnswer(overview_report(session.state, names), session.command("coverage"))


def backends(session: Session) -> list[CoveredBackend]:
    """The backends that can be asked for."""
    universe = session.state.dispatcher.universe
    return [backend_of(universe, key) for key in backend_keys(universe)]
