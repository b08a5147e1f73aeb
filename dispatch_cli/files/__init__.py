"""Access to files in the working tree, or in the tree of a git revision. Everything that reads files goes through it.

A file at a revision has the name ``REV:PATH``, as in git, with PATH from the top of the repository. Such names exist
once `asked.resolve` has opened their revision; `paths` does with them what ``os.path`` does with the others.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A file or folder in a folder. mode: as ``os.lstat`` gives it."""

    name: str
    mode: int


class RevisionError(OSError):
    """A file, or a revision, cannot be read.

    code, message, hint: as in `dispatch_cli.model.problem.Problem`.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
