"""The two states that ``diff`` compares, and the command line that names them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from dispatch_cli import api, bases
from dispatch_cli.answers.diff.report import DiffArguments, as_side
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.session import Session
from dispatch_cli.model.universe import UNNAMED_BACKEND


class Old(NamedTuple):
    """A state to compare with. version: an embedded one; None for the files as they are without changes."""

    version: str | None

    @property
    def name(self) -> str:
        """Name in a list, and in sentences."""
        return self.version or "the state without your changes"


def olds(session: Session) -> list[Old]:
    """States that a session's state can be compared with: what the files start from, older versions, newer versions."""
    names = bases.names()
    own = next((name for name in [*session.original.over][:1] if name in names), None)
    choices = [Old(None)] if tried_file(session) else []
    at = -1 if own is None else names.index(own)
    if own is not None and session.files:
        choices.append(Old(own))
    return choices + [Old(name) for name in (*names[at + 1 :], *reversed(names[: max(at, 0)]))]


def old_of(session: Session, chosen: Old | None) -> Old | None:
    """State to compare a session's state with: the chosen one as long as it is there, else the first."""
    there = olds(session)
    return chosen if chosen in there else next(iter(there), None)


def sides_of(session: Session, old: Old) -> DiffArguments | None:
    """The sides of a comparison; None where ``diff`` has no arguments for it."""
    files, tried = session.files, tried_file(session)
    options = session.source[len(files) :]
    named = _bases_in(options)
    if old.version is None:
        before = files or named
        if not before or not tried:
            return None
        return DiffArguments(files or as_side(named), (*files, *tried), options)
    if files or tried:
        return DiffArguments((old.version,), (*files, *tried), options)
    if not named:
        return None
    return DiffArguments((old.version,), as_side(named), _without_base(options))


def old_state(session: Session, old: Old, original: State) -> State:
    """The state to compare with. original: a snapshot of the one without the changes on trial."""
    if old.version is None:
        return original
    backend = session.original.dispatcher.universe.backend_name
    return api.load_state((), bases=(old.version,), privateuse1=None if backend == UNNAMED_BACKEND else backend)


def tried_file(session: Session) -> tuple[str, ...]:
    """The file with the changes on trial; none if there are no changes."""
    alone = session.command("diff")
    return alone[len(session.source) + 1 :]


def _bases_in(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for before, text in pairwise(options) if before == "--base")


def _without_base(options: tuple[str, ...]) -> tuple[str, ...]:
    """Options without --base and --universe, which count for files alone."""
    kept: list[str] = []
    skipped = False
    for text in options:
        if skipped:
            skipped = False
        elif text in ("--base", "--universe"):
            skipped = True
        else:
            kept.append(text)
    return tuple(kept)
