"""Errors of files at a revision."""

from __future__ import annotations


class RevisionError(OSError):
    """A file, or a revision, cannot be read.

    code, message, hint: as in `dispatch_cli.model.problem.Problem`.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
