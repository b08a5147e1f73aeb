"""The folder of a project. Files that a declaration or a project file names are read inside it alone.

A declaration can come from anyone, such as the author of a pull request, and problems quote the lines they are about.
So a file may not lead to others that its author cannot read, such as those of the machine that checks it.
"""

from __future__ import annotations

import os

from dispatch_cli.declarations.source import STDIN

_MARKS = ("pyproject.toml", ".git")
"""What the folder of a project has."""


def project_folder(file: str) -> str:
    """The folder of the project that *file* is in, with links resolved; ``-`` is in the working directory.

    It is the nearest folder above the file, as it is named, that has a ``pyproject.toml`` or ``.git``, else the file's
    own. The root of the file system is no project.
    """
    try:
        start = os.path.abspath("" if file == STDIN else os.path.dirname(file))  # noqa: PTH100, PTH120
        folder = start
        while (above := os.path.dirname(folder)) != folder:  # noqa: PTH120
            if any(os.path.lexists(os.path.join(folder, mark)) for mark in _MARKS):  # noqa: PTH118
                return os.path.realpath(folder)
            folder = above
        return os.path.realpath(start)
    except (OSError, ValueError):  # such a file cannot be read, either
        return ""


def within(file: str, allow_outside: bool) -> str | None:
    """Where a file has to be that the user named, links resolved: in its project; None where it can be anywhere."""
    return None if allow_outside else project_folder(file)
