"""What is explored: a state, what was changed in it on trial, and the command line that loads it."""

from __future__ import annotations

from typing import Any, NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName


class PaneAnswer(NamedTuple):
    """What a view shows.

    report: the same report that the command makes. command: the arguments of ``dispatch-cli`` that print it; with
    ``--format json``, it prints exactly this report.
    """

    report: Any
    command: tuple[str, ...]


class Spot(NamedTuple):
    """Where the user is. operator: an ordinary one; higher_order: the name of a higher-order one.

    key: of the slot.
    """

    operator: OperatorName | None = None
    key: str | None = None
    higher_order: str | None = None


class Session:
    """A state that is explored.

    source: the arguments that load it, as they were given: files, ``--base``, and the other options of the source.
    """

    def __init__(self, state: State, source: tuple[str, ...]) -> None:
        self.original = state
        self.source = source

    @property
    def state(self) -> State:
        """The state with the changes that are being tried."""
        return self.original

    def command(self, name: str, *arguments: str, before: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A command line over this state. before: its arguments that stand before the files, such as OP and KEY."""
        return (name, *before, *self.source, *arguments)
