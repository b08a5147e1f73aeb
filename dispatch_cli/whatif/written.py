"""Changes as a declaration file, which any command reads after the files that the changes are of."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dispatch_cli.model import read_files
from dispatch_cli.model.change import Addition, Change, HistoryChange, RegistrationName, Removal
from dispatch_cli.model.declarations import WILDCARD
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.registration_names import RegistrationIndex

HEAD = "# Changes that were tried out in `dispatch-cli explore`. Name this file after those that it changes.\n"
"""The first line of what is written. A file that begins otherwise is not replaced."""


class CannotSave(Exception):
    """The file cannot be written; the text says why."""


def text_of(changes: Sequence[Change], names: RegistrationIndex) -> str:
    """The file. names: the registrations before the changes, with what these add."""
    return "".join(_lines(changes, names))


def _lines(changes: Sequence[Change], names: RegistrationIndex) -> Iterator[str]:
    yield HEAD
    yield "dispatch: 1\n"
    additions = [one for one in changes if isinstance(one, Addition)]
    in_python = [one for one in additions if isinstance(one.kernel, str)]
    others = [one for one in changes if not isinstance(one, Addition)]
    if len(in_python) < len(additions):
        yield "libraries:\n"
        yield from (f"  - {_flow(_library(one))}\n" for one in additions if isinstance(one.kernel, Kernel))
    if in_python:
        yield "operators:\n"
        for one in in_python:
            yield f"  - {_flow({'name': str(one.operator), 'python_dispatch': {one.key: one.kernel}})}\n"
    if others:
        yield "changes:\n"
    for change in others:
        first, *rest = _change(change, names)
        yield f"  - {first}\n"
        yield from (f"    {line}\n" for line in rest)


def _library(change: Addition) -> dict[str, Any]:
    operator, key, kernel = change
    assert isinstance(kernel, Kernel), "those in Python are not in a library"
    if operator is None:
        return {"kind": "IMPL", "namespace": WILDCARD, "dispatch_key": key, "fallback": _kernel(kernel)}
    entry = {**_kernel(kernel), "dispatch_key": key}
    return {"kind": "IMPL", "namespace": operator.namespace or "", "impl": {str(operator): entry}}


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


def _change(change: HistoryChange, names: RegistrationIndex) -> Iterator[str]:
    if isinstance(change, Removal):
        yield f"remove: {_flow(_name(change.which, names))}"
        return
    yield f"move: {_flow(_name(change.which, names))}"
    for word, name in (("before", change.before), ("after", change.after)):
        if name is not None:
            yield f"{word}: {_flow(_name(name, names))}"
    if change.block:
        yield "block: true"


def _name(name: RegistrationName, names: RegistrationIndex) -> dict[str, Any]:
    short = names.short_name(names.find(name))
    fields: dict[str, Any] = {}
    if short.operator is None:
        fields["fallback"] = short.key
    else:
        fields["operator"] = str(short.operator)
        fields["python_dispatch" if short.python else "dispatch_key"] = short.key
    further = {"kernel": short.kernel, "place": short.place, "number": short.number}
    return fields | {field: value for field, value in further.items() if value is not None}


def _flow(value: Any) -> str:
    """A value in YAML, on one line: mappings with plain names of fields, texts in quotes as in JSON."""
    if isinstance(value, str):
        return _quoted(value)
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{{', '.join(f'{_field(key)}: {_flow(one)}' for key, one in value.items())}}}"


def _quoted(text: str) -> str:
    """A text in quotes. JSON writes a character above U+FFFF as two escapes, which YAML does not take for one."""
    parts = (f"\\U{ord(one):08x}" if ord(one) > 0xFFFF else json.dumps(one)[1:-1] for one in text)
    return f'"{"".join(parts)}"'


def _field(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _quoted(name)


def save(text: str, path: str) -> None:
    """Write a file, whole or not at all. Errors: CannotSave, also for an input and for a file of somebody else."""
    target = Path(path)
    if read_files.is_noted(path):
        raise CannotSave(f"cannot write {path}: it is an input")
    try:
        if target.exists() and not (target.is_file() and _is_ours(target)):
            raise CannotSave(f"cannot write {path}: the file exists, and was not written here")
        _replace(target, text)
    except OSError as error:
        raise CannotSave(f"cannot write {path}: {error.strerror or error}") from None


def _is_ours(target: Path) -> bool:
    with target.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(HEAD)) == HEAD


def _replace(target: Path, text: str) -> None:
    number, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).chmod(0o666 & ~_umask())
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
