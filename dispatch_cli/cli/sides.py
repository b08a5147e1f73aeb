"""The states that ``diff`` compares, each named by an argument."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dispatch_cli.cli.options import SourceOptions, load_state, resolved_name

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State

_VERSION = re.compile(r"torch-[\w.+-]*")


def side_state(argument: str, further: Sequence[str], source: SourceOptions, color: str) -> State:
    """The state that an argument names: an embedded one, a file of declarations, a source or a directory of sources.

    further: files that are applied after it. source: the other options; --base and --universe count for files alone.
    ``torch-2.9.1`` means torch-2.9. An embedded state comes before a file of that name, which can be written as
    ``./NAME``. Errors: BadInput.
    """
    name = embedded_name(argument)
    if name is not None:
        source = source._replace(files=tuple(further), bases=(resolved_name(name),), universe=None)
    else:
        source = source._replace(files=(argument, *further))
    return load_state(source, color)


def embedded_name(argument: str) -> str | None:
    """The argument, if it is meant for an embedded state: no file is called like a version; None for a file."""
    from dispatch_cli import bases

    is_version = _VERSION.fullmatch(argument) is not None and not os.path.exists(argument)  # noqa: PTH110
    return argument if is_version or bases.resolve(argument).name in bases.names() else None
