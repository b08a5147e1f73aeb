"""The states that ``diff`` compares, each named by an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dispatch_cli.cli.options import SourceOptions, load_state

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State


def side_state(argument: str, further: Sequence[str], source: SourceOptions, color: str) -> State:
    """The state that an argument names: an embedded one, a file of declarations, a source or a directory of sources.

    further: files that are applied after it. source: the other options; --base and --universe count for files alone.
    An embedded state comes before a file of that name, which can be written as ``./NAME``. Errors: BadInput.
    """
    if is_embedded(argument):
        source = source._replace(files=tuple(further), bases=(argument,), universe=None)
    else:
        source = source._replace(files=(argument, *further))
    return load_state(source, color)


def is_embedded(argument: str) -> bool:
    """Whether an argument names an embedded state."""
    from dispatch_cli import bases

    return argument in bases.names()
