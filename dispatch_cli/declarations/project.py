"""Finding a project's ``pyproject.toml``; `project_settings` reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, SourceError, read_plain
from dispatch_cli.declarations.toml_reader import TomlError, parse_toml
from dispatch_cli.files import paths
from dispatch_cli.model.problem import InputError, Problem

FILE = "pyproject.toml"
NO_BASE = "none"
"""The value of `base` for no state at all, as that of ``--base``."""
TABLE = "dispatch-cli"


def find_project(folder: Path) -> Path | None:
    """The nearest ``pyproject.toml`` that speaks of this program, in *folder* or above it.

    Errors: InputError for one that cannot be read: whether it has settings is not known.
    """
    for place in paths.above(str(folder)):
        path = Path(paths.join(place, FILE))
        if paths.exists(str(path)):
            try:
                text = read_plain(str(path), MAX_PROJECT_BYTES)
            except SourceError as error:
                message = f"{path} cannot be read: {error.message.removeprefix(f'{path} cannot be read: ')}"
                raise InputError((Problem(error.code, message, hint="--config none ignores it"),)) from None
            if _speaks(text.decode("utf-8", "replace")):
                return path
    return None


_HEAD = re.compile(rf"^[ \t]*(?:\[{{1,2}}[ \t]*)?[\"']?tool[\"']?[ \t]*\.[ \t]*[\"']?{TABLE}\b", re.M)


def _speaks(text: str) -> bool:
    """True if a project file has settings of this program, in whichever of TOML's ways they are written.

    Of a file that is not TOML, whether it seems to: settings must not be passed over because of a slip.
    """
    if TABLE not in text:
        return False
    try:
        tool = parse_toml(text).get("tool")
    except TomlError:
        return _HEAD.search(text) is not None
    return isinstance(tool, Mapping) and TABLE in tool
