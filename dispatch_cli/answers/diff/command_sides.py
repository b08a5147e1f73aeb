"""The states that ``diff`` compares, each named by an argument."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dispatch_cli.cli.options import SourceOptions, load_state, opened, resolved_name
from dispatch_cli.cli.output import say

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State

_VERSION = re.compile(r"torch-[\w.+-]*")


def side_state(argument: str, further: Sequence[str], source: SourceOptions, color: str) -> State:
    """The state that an argument names: an embedded one, a file of declarations, a source or a directory of sources.

    An overlay stands for itself over its embedded state.
    further: files that are applied after it. source: the other options; --base and --universe count for files alone.
    ``torch-2.9.1`` means torch-2.9. An embedded state comes before a file of that name, which can be written as
    ``./NAME``. Errors: BadInput.
    """
    name = embedded_name(argument)
    if name is not None:
        source = source._replace(files=tuple(further), bases=with_base(resolved_name(name)), universe=None)
    else:
        source = source._replace(files=(argument, *further))
    return load_state(source, color)


def opened_sides(
    old: Sequence[str], new: Sequence[str], color: str
) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """The names under which the files of two sides can be read, and the one of them that is absent, if any.

    Absent is the file of a side if the other side is the same path and has it: it was added or deleted since a
    revision. Errors: BadInput.
    """
    missing = None
    if len(old) == len(new) == 1 and ":" in old[0] + new[0]:
        from dispatch_cli.files.asked import absent

        missing = absent(*opened([*old, *new], color, must_exist=False))
    names = opened([*old, *new], color, must_exist=missing is None)
    return names[: len(old)], names[len(old) :], missing


def state_without(file: str, other: State) -> State:
    """The state of a file that is absent: what the other side starts from."""
    from dispatch_cli import api
    from dispatch_cli.render.text_safety import safe

    bases = other.declarations.bases
    say(f"note: {safe(file)} does not exist: it counts as {' and '.join(bases) or 'a file without registrations'}\n")
    return api.load_state((), universe=other.dispatcher.universe, bases=bases)


def with_base(name: str) -> tuple[str, ...]:
    """The states to load for the name of one; for an overlay, also the one below it."""
    from dispatch_cli import bases

    if name not in bases.overlay_names():
        return (name,)
    from dispatch_cli.bases import overlay

    return (overlay.load(name).over, name)


def embedded_name(argument: str) -> str | None:
    """The argument, if it names a state as --base does: an embedded one, or that of a recording; None for a file.

    What is called like a version, and is no file, is meant for an embedded one.
    """
    from dispatch_cli import bases

    is_version = _VERSION.fullmatch(argument) is not None and not os.path.exists(argument)  # noqa: PTH110
    if is_version or bases.resolve(argument).name in bases.names():
        return argument
    from dispatch_cli.trace.recording import is_recording

    return argument if is_recording(argument) else None
