"""The options by which ``keys`` gets the universe of a session."""

from __future__ import annotations

from dispatch_cli.explore.session import Session
from dispatch_cli.model.universe import UNNAMED_BACKEND


def universe_arguments(session: Session) -> tuple[str, ...]:
    """``--universe``, as the source of the session names it or by name; ``--privateuse1``, where that has a name."""
    universe, given = session.state.dispatcher.universe, dict(zip(session.source, session.source[1:], strict=False))
    named = () if universe.backend_name == UNNAMED_BACKEND else ("--privateuse1", universe.backend_name)
    return ("--universe", given.get("--universe", universe.name), *named)
