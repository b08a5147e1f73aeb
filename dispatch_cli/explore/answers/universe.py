"""The options by which a command gets the universe of a session."""

from __future__ import annotations

from dispatch_cli import universes
from dispatch_cli.explore.session import Session

UNIVERSE = "--universe"


def universe_arguments(session: Session) -> tuple[str, ...]:
    """``--universe`` and, where the backend at PrivateUse1 has a name, ``--privateuse1``.

    A universe that is not embedded is the one that the source of the session names.
    """
    universe, source = session.state.dispatcher.universe, session.source
    named = next((source[at + 1] for at, one in enumerate(source[:-1]) if one == UNIVERSE), None)
    embedded = universe.name in universes.names()
    shown = universe.name if embedded or named is None else named
    plain = universes.load(universe.name) if embedded else None
    backend = () if plain is not None and plain.backend_name == universe.backend_name else (universe.backend_name,)
    return (UNIVERSE, shown, *(f"--privateuse1={name}" for name in backend))
