"""Registrations that are not known well enough, as entries of a declaration document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dispatch_cli.model.condition import Condition
from dispatch_cli.model.extracted import (
    CalledFunction,
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    FunctionRole,
    HigherOrderFunction,
    NotUnderstood,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span

MAX_TEXT = 200
"""Characters of a statement, or of an expression, that an entry has."""
MOST_READ = 10_000
"""Characters, with blanks, of which these are taken."""

NO_TEXT = "…"
"""Stands in an entry for a statement that has no text."""

Data = dict[str, Any]
"""A mapping of the document."""


def placed(at: Span, when: Iterable[Condition], around: Sequence[Condition] = ()) -> Data:
    """The fields ``at`` and ``when``; without the conditions of what is around it."""
    texts = [str(condition) for condition in when if condition not in around]
    return {"at": str(at), **({"when": texts[0] if len(texts) == 1 else texts} if texts else {})}


def one_line(text: str) -> str:
    """A text on one line, shortened, without characters that are not for printing."""
    line = " ".join(text[:MOST_READ].split())
    line = line if len(line) <= MAX_TEXT and len(text) <= MOST_READ else f"{line[: MAX_TEXT - 1]}…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def is_decided(item: Extracted) -> bool:
    """True if everything that a registration needs is known."""
    return not any(True for _ in _unknown(item))


def _unknown(row: Extracted) -> Iterator[tuple[str, Unknown]]:
    match row:
        case ExtractedBlock():
            fields: tuple[tuple[str, object], ...] = (("namespace", row.namespace), ("dispatch_key", row.dispatch_key))
        case ExtractedDefinition():
            fields = (("name", row.name), ("namespace", row.block.namespace), ("dispatch_key", row.block.dispatch_key))
        case ExtractedKernel():
            key = row.key if row.key is not None else row.block.dispatch_key
            fields = (("name", row.operator), ("namespace", row.block.namespace), ("dispatch_key", key))
            if not isinstance(key, Unknown):
                fields = (*fields, ("dispatch_key", row.block.dispatch_key))
        case ExtractedFallback():
            fields = (("namespace", row.block.namespace), ("dispatch_key", row.key))
        case HigherOrderFunction():
            fields = (("name", row.operator),)
        case CustomOperator():
            fields = (("name", row.name),)
        case OperatorFunction():
            device = "dispatch_key" if row.role is FunctionRole.PY_IMPL else "device"
            fields = (("name", row.operator), *((device, device_type) for device_type in row.devices))
    for field, value in fields:
        if isinstance(value, Unknown):
            yield field, value


def undecided_entry(row: Extracted) -> Data:
    """The entry of a registration of which something is not known."""
    entry = placed(row.at, row.when)
    fields: dict[str, object] = {}
    match row:
        case ExtractedBlock():
            registers = "block"
            fields = {"namespace": row.namespace, "dispatch_key": row.dispatch_key}
        case ExtractedDefinition():
            registers = "definition"
            fields = {"namespace": row.block.namespace, "name": row.name, "schema": row.schema}
        case ExtractedKernel():
            registers = "kernel"
            key = row.block.dispatch_key if row.key is None else row.key
            fields = {"namespace": row.block.namespace, "name": row.operator, "dispatch_key": key, "kernel": row.kernel}
        case ExtractedFallback():
            registers, fields = "fallback", {"dispatch_key": row.key, "kernel": row.kernel}
        case HigherOrderFunction():
            registers, fields = "py_impl", {"name": row.operator, "kernel": row.function}
        case CustomOperator():
            registers = "triton_op" if row.triton else "custom_op"
            fields = {"name": row.name, "schema": row.schema, "kernel": row.function}
        case OperatorFunction():
            registers = row.role.value
            devices = [device for device in row.devices if isinstance(device, str)]
            fields = {"name": row.operator, "dispatch_key": ", ".join(devices) or None, "kernel": row.function}
    entry |= {"registers": registers, "unknown": {field: one_line(value.expression) for field, value in _unknown(row)}}
    known = {field: one_line(value) for field, value in fields.items() if isinstance(value, str) and value.strip()}
    return {**entry, "known": known} if known else entry


def not_understood_entry(row: NotUnderstood) -> Data:
    """The entry of a statement that was not understood."""
    entry = placed(row.at, row.when) | {
        "text": one_line(row.text) or NO_TEXT,
        "reason": one_line(row.why) or "not said",
    }
    return entry | ({"bound": True} if row.bound else {})


def called_function_entry(function: CalledFunction) -> Data:
    """The entry of a function that registers something when it is called."""
    return {"at": str(function.at), "name": function.name, "registers": [str(place) for place in function.places]}
