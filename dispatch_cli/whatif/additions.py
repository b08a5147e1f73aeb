"""Registrations that are added, as lines of a declaration file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple

from dispatch_cli.model.changes.change import Addition, AdditionPlace, Change
from dispatch_cli.model.declarations import WILDCARD
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.span import Span

_ENTRY = "  - "
"""Indentation and dash before an entry of a section."""


class AdditionLine(NamedTuple):
    """The line that adds a registration. registration, kernel: the columns where these begin."""

    text: str
    registration: int
    kernel: int


class AdditionSections(NamedTuple):
    """Additions, by the sections of a file: blocks of registrations, then operators with what Python registers.

    Each is in the order in which it was added.
    """

    libraries: Sequence[Addition]
    operators: Sequence[Addition]


def sections_of(changes: Iterable[Change]) -> AdditionSections:
    """The additions among changes."""
    added = [change for change in changes if isinstance(change, Addition)]
    return AdditionSections(
        [addition for addition in added if addition.is_of_block],
        [addition for addition in added if not addition.is_of_block],
    )


def addition_places(changes: Sequence[Change], path: str, first: int) -> list[AdditionPlace]:
    """Place of each addition, in the order of the changes. path, first: the file, and the line of the first section."""
    libraries = len(sections_of(changes).libraries)
    in_libraries, in_operators = count(first + 1), count(first + 1 + (libraries + 1 if libraries else 0))
    return [
        _place(path, next(in_libraries if change.is_of_block else in_operators), addition_line(change))
        for change in changes
        if isinstance(change, Addition)
    ]


def _place(path: str, number: int, line: AdditionLine) -> AdditionPlace:
    columns = len(_ENTRY) + 1, line.registration, line.kernel
    return AdditionPlace(*(Span(path, number, column) for column in columns))


def addition_line(change: Addition) -> AdditionLine:
    """An addition as an entry of its section."""
    operator, key, kernel = change
    if isinstance(kernel, str):
        start = f"{_ENTRY}{{name: {quoted(str(operator))}, python_dispatch: {{"
        return AdditionLine(f"{start}{quoted(key)}: {quoted(kernel)}}}}}", len(start) + 1, len(start) + 1)
    if kernel.fake is not None:
        start = f"{_ENTRY}{{name: {quoted(str(operator))}, fake: "
        return AdditionLine(f"{start}{quoted(kernel.fake.function or '')}}}", len(start) + 1, len(start) + 1)
    if operator is None:
        start = f'{_ENTRY}{{kind: "IMPL", namespace: {quoted(WILDCARD)}, dispatch_key: {quoted(key)}, fallback: '
        return AdditionLine(f"{start}{flow(_kernel(kernel))}}}", len(start) + 1, len(start) + 1)
    start = f'{_ENTRY}{{kind: "IMPL", namespace: {quoted(operator.namespace or "")}, impl: {{'
    named = f"{start}{quoted(str(operator))}: "
    entry = {**_kernel(kernel), "dispatch_key": key}
    return AdditionLine(f"{named}{flow(entry)}}}}}", len(start) + 1, len(named) + 1)


def _kernel(kernel: Kernel) -> dict[str, Any]:
    """The fields of a kernel."""
    fields: dict[str, Any] = {}
    if kernel.fallthrough:
        fields["fallthrough"] = True
    elif kernel.function is not None:
        fields["kernel"] = kernel.function
    if kernel.debug != kernel.function or kernel.fallthrough:
        fields["debug"] = kernel.debug
    if not kernel.boxed:
        fields["boxed"] = False
    if kernel.unboxed:
        fields["unboxed"] = True
    if kernel.python:
        fields["python"] = True
    if kernel.redispatches is not None:
        fields["redispatches"] = kernel.redispatches.data
    return fields


def flow(value: Any) -> str:
    """A value in YAML, on one line: mappings with plain names of fields, texts in quotes as in JSON."""
    if isinstance(value, str):
        return quoted(value)
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{{', '.join(f'{_field(key)}: {flow(item)}' for key, item in value.items())}}}"


def quoted(text: str) -> str:
    """A text in quotes. JSON writes a character above U+FFFF as two escapes, which YAML does not take for one."""
    parts = (f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else json.dumps(char)[1:-1] for char in text)
    return f'"{"".join(parts)}"'


def _field(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else quoted(name)
