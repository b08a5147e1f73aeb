"""Changes as a declaration file, which any command reads after the files that the changes are of."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from shutil import copymode
from typing import Any

from dispatch_cli.model import read_files
from dispatch_cli.model.changes.change import Addition, Change, HistoryChange, RegistrationName, Removal, Reordering
from dispatch_cli.model.changes.registration_names import RegistrationIndex
from dispatch_cli.model.span import Span
from dispatch_cli.whatif.additions import addition_line, flow, sections_of

HEAD = "# Changes that were tried out in `dispatch-cli explore`. Name this file after those that it changes.\n"
"""The first line of what is written."""
FIRST_SECTION = 3
"""The line of the first section."""
_START = "  - "
WRITTEN_TO = "whatif.yaml"
"""The file that changes are written to, where there is none of that name."""


class CannotSave(Exception):
    """The file cannot be written; the text says why."""


def text_of(changes: Sequence[Change], names: RegistrationIndex) -> str:
    """The file. names: the registrations before the changes, with what these add."""
    return "".join(_lines(changes, names))


def _lines(changes: Sequence[Change], names: RegistrationIndex) -> Iterator[str]:
    yield HEAD
    yield "dispatch: 1\n"
    for title, section in sections_of(changes)._asdict().items():
        if section:
            yield f"{title}:\n"
            yield from (f"{addition_line(addition).text}\n" for addition in section)
    others = [change for change in changes if not isinstance(change, Addition)]
    if others:
        yield "changes:\n"
    for change in others:
        first, *rest = _change(change, names)
        yield f"{_START}{first}\n"
        yield from (f"    {line}\n" for line in rest)


def change_places(changes: Sequence[Change], path: str) -> list[Span]:
    """Place in the file of each change that adds nothing. path: of the file."""
    sections = [section for section in sections_of(changes)._asdict().values() if section]
    line = FIRST_SECTION + sum(1 + len(section) for section in sections) + 1
    places = []
    for change in changes:
        if not isinstance(change, Addition):
            places.append(Span(path, line, len(_START) + 1))
            line += 2 if isinstance(change, Reordering) else 1
    return places


def _change(change: HistoryChange, names: RegistrationIndex) -> Iterator[str]:
    if isinstance(change, Removal):
        yield f"remove: {flow(_name(change.which, names))}"
        return
    yield f"move: {flow(_name(change.which, names))}"
    yield f"{'after' if change.is_after else 'before'}: {flow(_name(change.target, names))}"


def _name(name: RegistrationName, names: RegistrationIndex) -> dict[str, Any]:
    short = names.short_name(names.find(name))
    fields: dict[str, Any] = {}
    if short.operator is None:
        fields["fallback"] = short.key
    else:
        fields["operator"] = str(short.operator)
        fields["python_dispatch" if short.python else "dispatch_key"] = short.key
    further = {"kernel": short.kernel, "number": short.number}
    return fields | {field: value for field, value in further.items() if value is not None}


def save(text: str, path: str, before: str | None = None) -> None:
    """Write a file, whole or not at all. before: what was written there last; None where nothing was.

    Errors: CannotSave, also for an input and for a file that somebody else has written.
    """
    target = Path(path)
    if read_files.is_noted(path):
        raise CannotSave(f"cannot write {path}: it is an input")
    try:
        if os.path.lexists(path) and not (target.is_file() and _holds(target, before)):
            why = "exists, and was not written here" if before is None else "was changed since it was written here"
            raise CannotSave(f"cannot write {path}: the file {why}; move it away, and write again")
        _replace(target, text)
    except OSError as error:
        raise CannotSave(f"cannot write {path}: {error.strerror or error}") from None


def _holds(target: Path, text: str | None) -> bool:
    """True if there is just this in a file."""
    return text is not None and target.read_bytes() == text.encode()


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
        if target.exists():
            copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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


def _is_same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)  # either may not exist
