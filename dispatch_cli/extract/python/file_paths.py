"""Paths of files in Python: ``os.path`` and ``pathlib`` on names that are known, without looking at any file."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from pathlib import PurePosixPath

from dispatch_cli.extract.python.values import Value
from dispatch_cli.files.paths import inside

MAX_PATH = 4096
"""Characters of a path."""
_SAME = frozenset(("os.fspath", "os.path.abspath", "os.path.expanduser", "os.path.normpath", "os.path.realpath"))
_JOINING = frozenset(("os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.Path.joinpath"))
PATH_FUNCTIONS = frozenset((*_SAME, *_JOINING, "os.path.dirname", "os.path.basename"))
"""Functions that make a path of paths. A ``pathlib.Path`` is its text here."""
PATH_METHODS = {
    **dict.fromkeys(("absolute", "as_posix", "expanduser", "resolve"), "os.fspath"),
    "joinpath": "pathlib.Path.joinpath",
}
"""Methods of ``pathlib.Path`` that make a path, with functions that do the same."""
PATH_ATTRIBUTES = frozenset(("parent", "parents", "name", "stem", "suffix"))
SEARCHED = frozenset(("sys.path.append", "sys.path.insert", "sys.path.extend"))
"""Functions that add folders to those in which imports look for modules."""


def path_of_file(file: str) -> str:
    """``__file__``. A file of the working directory begins with ``./``, so that its folder is never an empty text."""
    path = inside(file).replace(os.sep, "/")
    return path if path.startswith("/") else f"./{path}"


def _folder(path: str) -> str:
    """The folder that a path is in."""
    plain = posixpath.normpath(path)
    return f"{plain}/.." if plain.rpartition("/")[2] in (".", "..") else posixpath.dirname(path) or "."


def path_function(name: str, given: Sequence[Value]) -> str | None:
    """The result of one of `PATH_FUNCTIONS`; None where that is not known."""
    parts = [part for part in given if isinstance(part, str)]
    if not parts or len(parts) < len(given) or sum(map(len, parts)) > MAX_PATH:
        return None
    if name in _JOINING:
        return posixpath.join(*parts)
    if name in _SAME:
        return parts[0]
    return _folder(parts[0]) if name == "os.path.dirname" else posixpath.basename(parts[0])


def path_attribute(path: str, name: str) -> Value:
    """The value of one of `PATH_ATTRIBUTES`."""
    if name == "parent":
        return _folder(path)
    if name == "parents":
        parents = [_folder(path)]
        while len(parents) < 20:
            parents.append(_folder(parents[-1]))
        return tuple(parents)
    plain = PurePosixPath(path)
    return {"name": plain.name, "stem": plain.stem, "suffix": plain.suffix}[name]


def searched_folders(name: str, given: Sequence[Value]) -> list[str]:
    """The folders that one of `SEARCHED` adds, as far as they are known."""
    values = given[-1:]
    if name == "sys.path.extend" and values and isinstance(values[0], list | tuple):
        values = values[0]
    return [posixpath.normpath(text) for text in values if isinstance(text, str) and 0 < len(text) <= MAX_PATH]
