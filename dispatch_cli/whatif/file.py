"""The file that changes are written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain, count

from dispatch_cli.model.change import Change
from dispatch_cli.whatif.written import CannotSave, save

WRITTEN_TO = "whatif.yaml"
"""The file that changes are written to, where there is none of that name."""


class ChangesFile:
    """A file that changes are written to.

    path: the file, none that is there already. changes: those that are in it.
    """

    def __init__(self, inputs: Sequence[str], path: str | None = None) -> None:
        """inputs: the files that the state was made from. path: None for a name that is free."""
        self._inputs = inputs
        self.path = _free_name(inputs) if path is None else path
        self.changes: tuple[Change, ...] = ()
        self._texts: dict[str, str] = {}

    def of(self, inputs: Sequence[str]) -> ChangesFile:
        """The same file, for changes of another state."""
        other = ChangesFile(inputs, self.path)
        other.changes, other._texts = self.changes, self._texts
        return other

    def write(self, changes: tuple[Change, ...], text: str, path: str | None = None) -> str:
        """Write changes, whole or not at all; the file's name. Errors: CannotSave, also for an input."""
        path = self.path if path is None else path
        if not os.path.isabs(path) and not _has_directory():  # noqa: PTH117
            raise CannotSave(f"cannot write {path}: the working directory is not there any more")
        if any(_is_same(path, other) for other in self._inputs):
            raise CannotSave(f"cannot write {path}: it is an input")
        save(text, path, self._texts.get(path))
        self._texts[path] = text
        self.path, self.changes = path, changes
        return path


def _free_name(inputs: Sequence[str]) -> str:
    """The name of a file that is not there, and not an input."""
    names = chain((WRITTEN_TO,), (WRITTEN_TO.replace(".", f"-{number}.") for number in count(2)))
    return next(
        name for name in names if not os.path.lexists(name) and not any(_is_same(name, file) for file in inputs)
    )


def _has_directory() -> bool:
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return False
    return True


def _is_same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)  # either may not exist
