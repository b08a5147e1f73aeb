"""Universes that are files, or are written in one: which may be read, and which are the same."""

from __future__ import annotations

from dispatch_cli import universes
from dispatch_cli.declarations import source
from dispatch_cli.declarations.header import UniverseName
from dispatch_cli.declarations.project_folder import within
from dispatch_cli.model.universe import Universe


def load_universe(name: str, allow_outside: bool = False) -> Universe:
    """The embedded universe of that name, or that of a file that the user named. Errors: UniverseError."""
    if name not in universes.names():
        try:
            source.check_inside(name, within(name, allow_outside))
        except source.SourceError as error:
            raise universes.UniverseError(f"{error.message}; {error.hint}") from None
    return universes.load(name)


def can_be_read(asked: UniverseName, project: str | None) -> bool:
    """Whether the universe that a file asks for can be looked at; what is wrong is noted."""
    if asked.inline is None and asked.target and asked.target not in universes.names():
        try:
            source.check_inside(asked.target, project)
        except source.SourceError as error:
            asked.problems.add(error.code, error.message, asked.node, error.hint)
            return False
    return bool(asked.target)


def agree(one: str, inline: Universe | None, other: str, other_inline: Universe | None) -> bool:
    """Whether two names, paths or universes written in a file mean the same universe."""
    if inline is None and other_inline is None:
        return _same(one, other)
    try:
        return not universes.differences(inline or universes.load(one), other_inline or universes.load(other))
    except universes.UniverseError:
        return False


def _same(one: str, other: str) -> bool:
    """Whether two names or paths mean the same universe."""
    embedded = universes.names()
    if one in embedded or other in embedded:
        return one == other
    return source.identity(one) == source.identity(other)
