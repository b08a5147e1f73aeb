"""Dispatch keys: all of them, one in detail, and the operators that have a kernel there."""

from __future__ import annotations

from dispatch_cli.answers.keys.key import is_key, key_report
from dispatch_cli.answers.keys.registrations import key_registrations_report
from dispatch_cli.answers.keys.report import universe_argument, universe_report
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNNAMED_BACKEND


def answer_of_keys(
    session: Session, report: object, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> PaneAnswer:
    """A report with the ``keys`` that prints it. before, after: its arguments around those of the universe."""
    universe = session.state.dispatcher.universe
    named = universe_argument(session.original, session.source)
    backend = () if universe.backend_name == UNNAMED_BACKEND else ("--privateuse1", universe.backend_name)
    return PaneAnswer(report, ("keys", *before, "--universe", named, *backend, *after))


def keys_answer(session: Session) -> PaneAnswer:
    """All keys of the universe."""
    universe = session.state.dispatcher.universe
    return answer_of_keys(session, universe_report(universe))


def key_answer(session: Session, key: str) -> PaneAnswer | None:
    """One key in detail; None where there is none of that name."""
    universe = session.state.dispatcher.universe
    if not is_key(universe, key):
        return None
    return answer_of_keys(session, key_report(universe, key), (key,))


def registered_answer(session: Session, key: str) -> PaneAnswer | None:
    """The operators with a kernel at exactly that key; None where nothing can be registered there."""
    state = session.state
    universe = state.dispatcher.universe
    if key not in (*universe.slots[:1], *universe.keys_by_id):
        return None
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    report = key_registrations_report(state, (key,), names)
    return PaneAnswer(report, session.command("register", "--key", key))
