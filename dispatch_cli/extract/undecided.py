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


def is_decided(one: Extracted) -> bool:
    """True if everything that a registration needs is known."""
    return not any(True for _ in _unknown(one))


def _unknown(one: Extracted) -> Iterator[tuple[str, Unknown]]:
    match one:
        case ExtractedBlock():
            fields: tuple[tuple[str, object], ...] = (("namespace", one.namespace), ("dispatch_key", one.dispatch_key))
        case ExtractedDefinition():
            fields = (("name", one.name), ("namespace", one.block.namespace), ("dispatch_key", one.block.dispatch_key))
        case ExtractedKernel():
            key = one.key if one.key is not None else one.block.dispatch_key
            fields = (("name", one.operator), ("namespace", one.block.namespace), ("dispatch_key", key))
            if not isinstance(key, Unknown):
                fields = (*fields, ("dispatch_key", one.block.dispatch_key))
        case ExtractedFallback():
            fields = (("namespace", one.block.namespace), ("dispatch_key", one.key))
        case HigherOrderFunction():
            fields = (("name", one.operator),)
        case CustomOperator():
            fields = (("name", one.name),)
        case OperatorFunction():
            device = "dispatch_key" if one.role is FunctionRole.PY_IMPL else "device"
            fields = (("name", one.operator), *((device, device_type) for device_type in one.devices))
    for field, value in fields:
        if isinstance(value, Unknown):
            yield field, value


def undecided_entry(one: Extracted) -> Data:
    """The entry of a registration of which something is not known."""
    entry = placed(one.at, one.when)
    fields: dict[str, object] = {}
    match one:
        case ExtractedBlock():
            registers = "block"
            fields = {"namespace": one.namespace, "dispatch_key": one.dispatch_key}
        case ExtractedDefinition():
            registers = "definition"
            fields = {"namespace": one.block.namespace, "name": one.name, "schema": one.schema}
        case ExtractedKernel():
            registers = "kernel"
            key = one.block.dispatch_key if one.key is None else one.key
            fields = {"namespace": one.block.namespace, "name": one.operator, "dispatch_key": key, "kernel": one.kernel}
        case ExtractedFallback():
            registers, fields = "fallback", {"dispatch_key": one.key, "kernel": one.kernel}
        case HigherOrderFunction():
            registers, fields = "py_impl", {"name": one.operator, "kernel": one.function}
        case CustomOperator():
            registers = "triton_op" if one.triton else "custom_op"
            fields = {"name": one.name, "schema": one.schema, "kernel": one.function}
        case OperatorFunction():
            registers = one.role.value
            devices = [device for device in one.devices if isinstance(device, str)]
            fields = {"name": one.operator, "dispatch_key": ", ".join(devices) or None, "kernel": one.function}
    entry |= {"registers": registers, "unknown": {field: one_line(value.expression) for field, value in _unknown(one)}}
    known = {field: one_line(value) for field, value in fields.items() if isinstance(value, str) and value.strip()}
    return {**entry, "known": known} if known else entry


def not_understood_entry(one: NotUnderstood) -> Data:
    """The entry of a statement that was not understood."""
    entry = placed(one.at, one.when) | {"text": one_line(one.text) or "…", "reason": one_line(one.why) or "not said"}
    return entry | ({"bound": True} if one.bound else {})


def called_function_entry(one: CalledFunction) -> Data:
    """The entry of a function that registers something when it is called."""
    return {"at": str(one.at), "name": one.name, "registers": [str(place) for place in one.places]}
