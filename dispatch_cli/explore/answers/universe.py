"""The command line of ``keys`` for the universe of a session."""

from __future__ import annotations

from dispatch_cli.answers.keys.report import universe_argument
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.universe import UNNAMED_BACKEND


def answer_of_keys(
    session: Session, report: object, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> PaneAnswer:
    """A report with the ``keys`` that prints it. before, after: its arguments around those of the universe."""
    universe = session.state.dispatcher.universe
    named = universe_argument(session.original, session.source)
    backend = () if universe.backend_name == UNNAMED_BACKEND else ("--privateuse1", universe.backend_name)
    return PaneAnswer(report, ("keys", *before, "--universe", named, *backend, *after))
