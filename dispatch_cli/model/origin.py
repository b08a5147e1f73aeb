"""Origins of declared things, beyond their place: the files and states that others extend."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.span import Span


class Inherited(NamedTuple):
    """A file or an embedded state that the user did not name: others extend it.

    name: the file as places name it, or the state. is_state: it is an embedded state.
    through: the entries of ``extends`` that led to it, that of the user's own file first.
    """

    name: str
    is_state: bool
    through: tuple[Span, ...]


class Origin(NamedTuple):
    """Origin of a declared thing.

    state: the embedded state that it is from; None for what has a place in a file, and for what was registered by hand.
    through: the entries of ``extends`` that led to its file or state, that of the user's own file first; none for what
        the user named.
    """

    state: str | None = None
    through: tuple[Span, ...] = ()


OWN = Origin()
"""Origin of what the user named."""
