"""Paths of files in Python: ``os.path`` and ``pathlib`` on names that are known, without looking at any file."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from pathlib import PurePosixPath

from dispatch_cli.extract.python.values import PathValue, Value
from dispatch_cli.files.paths import inside

MAX_PATH = 4096
"""Characters of a path."""
_SAME = frozenset(("os.fspath", "os.path.abspath", "os.path.expanduser", "os.path.normpath", "os.path.realpath"))
_CLASSES = frozenset(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"))
_UNCHANGED = frozenset(("absolute", "expanduser", "resolve"))
PATH_FUNCTIONS = frozenset((*_SAME, *_CLASSES, "os.path.dirname", "os.path.basename", "os.path.join"))
"""Functions that make a path of paths."""
PATH_METHODS = frozenset((*_UNCHANGED, "as_posix", "joinpath"))
"""Methods of ``pathlib.Path`` that make a path or its text."""
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


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else value.path if isinstance(value, PathValue) else None


def path_function(name: str, given: Sequence[Value]) -> Value:
    """The result of one of `PATH_FUNCTIONS`; None where that is not known."""
    texts = [_text(value) for value in given]
    if not texts or None in texts:
        return None
    parts = [text for text in texts if text is not None]
    if sum(map(len, parts)) > MAX_PATH:
        return None
    if name in _CLASSES or name == "os.path.join":
        joined = posixpath.join(*parts)
        return PathValue(joined) if name in _CLASSES else joined
    if name in _SAME:
        return parts[0]
    return _folder(parts[0]) if name == "os.path.dirname" else posixpath.basename(parts[0])


def path_attribute(path: PathValue, name: str) -> Value:
    """The value of an attribute of a path; None where that is not known."""
    if name == "parent":
        return PathValue(_folder(path.path))
    if name == "parents":
        parents = [_folder(path.path)]
        while len(parents) < 20:
            parents.append(_folder(parents[-1]))
        return tuple(map(PathValue, parents))
    plain = PurePosixPath(path.path)
    return {"name": plain.name, "stem": plain.stem, "suffix": plain.suffix}.get(name)


def path_method(path: PathValue, name: str, given: Sequence[Value]) -> Value:
    """The result of one of `PATH_METHODS`; None where that is not known."""
    if name == "as_posix":
        return path.path
    return path if name in _UNCHANGED else path_function("pathlib.Path", [path, *given])


def searched_folders(name: str, given: Sequence[Value]) -> list[str]:
    """The folders that one of `SEARCHED` adds, as far as they are known."""
    values = given[-1:]
    if name == "sys.path.extend" and values and isinstance(values[0], list | tuple):
        values = values[0]
    return [posixpath.normpath(text) for value in values if (text := _text(value)) and len(text) <= MAX_PATH]
