"""The project of a file: its folder, and its ``pyproject.toml``, which `project_settings` reads.

A declaration can come from anyone, such as the author of a pull request, and problems quote the lines they are about.
So a file may not lead to others that its author cannot read, such as those of the machine that checks it: files that a
declaration or a project file names are read inside the project's folder alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, STDIN, SourceError, read_plain
from dispatch_cli.files import paths
from dispatch_cli.files.paths import is_in
from dispatch_cli.model.problem import InputError, Problem

_MARKS = ("pyproject.toml", ".git")
"""Entries that mark the folder of a project."""


def project_folder(file: str) -> str:
    """The folder of the project that *file* is in, with links resolved; ``-`` is in the working directory.

    It is the nearest folder above the file, as it is named, that has a ``pyproject.toml`` or ``.git``, else the file's
    own. The root of the file system is no project. A link is not followed out of a project, nor out of the folder in
    which the file's name begins: what it leads to is outside, whatever marks it has. Links above that are followed.
    """
    try:
        start = paths.absolute("" if file == STDIN else paths.folder_of(file))
        if paths.tree_of(file) is not None:
            return next(filter(_is_marked, paths.above(start)), start)
        begins = _begins(file, start)
        project = None
        for folder, real in _down_to(start):
            around = project or (begins if begins is not None and is_in(folder, begins) else None)
            if around is not None and real != around and not is_in(real, around):
                return around
            if _is_marked(folder):
                project = real
        return project or paths.real(start)
    except (OSError, ValueError):  # such a file cannot be read, either
        return ""


def _is_marked(folder: str) -> bool:
    return any(paths.exists(paths.join(folder, mark)) for mark in _MARKS)


def _begins(file: str, start: str) -> str | None:
    """The outermost folder that a relative name goes through. A whole name in the working directory counts as one."""
    try:
        here = os.path.abspath("")  # noqa: PTH100
    except OSError:
        return None  # the working directory is deleted
    if os.path.isabs(file) and not is_in(start, here):  # noqa: PTH117
        return None
    begins = os.path.realpath(os.path.commonpath((here, start)))
    return None if begins == os.path.dirname(begins) else begins  # noqa: PTH120


def _down_to(folder: str) -> Iterator[tuple[str, str]]:
    """The folders above a folder from the outside in, without the root, and itself; each with links resolved, too."""
    real = path = os.path.abspath(os.sep)  # noqa: PTH100
    for part in filter(None, folder.removeprefix(path).split(os.sep)):  # noqa: PTH206
        path = os.path.join(path, part)  # noqa: PTH118
        real = os.path.realpath(path) if os.path.islink(path) else os.path.join(real, part)  # noqa: PTH114, PTH118
        yield path, real


def within(file: str, allow_outside: bool) -> str | None:
    """Project folder that a file named by the user has to be in, links resolved; None where it can be anywhere.

    A revision is not left anyway, and all of it can be read by whoever can read a file of it.
    """
    return None if allow_outside or paths.tree_of(file) is not None else project_folder(file)


FILE = "pyproject.toml"
_SETTINGS = re.compile(r"""(?m)^[^#\n]*\btool[\s"'.]{1,9}dispatch-cli|^\s*\[\s*tool\s*\]""")
"""Part of a project file that has settings of this program, or may have them."""
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
            if _SETTINGS.search(text.decode("utf-8", "replace")):
                return path
    return None
