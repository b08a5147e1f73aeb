"""Settings for reading sources: macros, values, directories of headers."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.condition import Condition


class ReadSettings(NamedTuple):
    """Settings with which one file is read.

    defines: macros, with their parameters if they have some, and their values (``-D``).
    undefines: macros that are not defined (``-U``).
    values: what names of Python stand for (``--set``), such as ``current_platform.dispatch_key``.
    when: what holds where the file is in the build.
    is_built: False where macros decide that the file is not in the build.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    when: tuple[Condition, ...] = ()
    is_built: bool = True
