"""The command line of ``keys`` for the universe of a session."""

from __future__ import annotations

from itertools import pairwise

from dispatch_cli import universes
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.universe import UNNAMED_BACKEND

_WHY_NOT = "no command line: the universe is in a file of declarations, and keys takes a name or a universe file"


def answer_of_keys(
    session: Session, report: object, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> PaneAnswer:
    """A report with the ``keys`` that prints it. before, after: its arguments around those of the universe."""
    universe = session.state.dispatcher.universe
    named = _named(session)
    if named is None:
        return PaneAnswer(report, (), _WHY_NOT)
    backend = () if universe.backend_name == UNNAMED_BACKEND else ("--privateuse1", universe.backend_name)
    return PaneAnswer(report, ("keys", *before, "--universe", named, *backend, *after))


def _named(session: Session) -> str | None:
    """The universe as the source names it, its file, or its name; None where none of these leads to it."""
    universe = session.state.dispatcher.universe
    given = next((text for option, text in pairwise(session.source) if option == "--universe"), None)
    found = given or session.original.declarations.universe_file
    if found is not None or universe.name not in universes.names():
        return found
    embedded = universes.load(universe.name)
    if universe.backend_name != UNNAMED_BACKEND:
        embedded = embedded.with_backend(universe.backend_name)
    return None if universes.differences(universe, embedded) else universe.name
