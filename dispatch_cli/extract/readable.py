"""Limits of a declaration document: a registration that it cannot say is left out.

Sources may say anything: a condition with a bracket too many, a name with a control character. Such a text in a
document would keep all of it from being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dispatch_cli.declarations.fields import MAX_CONDITION, control_character
from dispatch_cli.model.budget import MAX_TEXT
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, atoms, negated, parse_condition
from dispatch_cli.model.declarations import NotUnderstood, RegisteringFunction
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.sources.source_conditions import operator_asked_for
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.quoting import printable

_When = tuple[Condition, ...]
_OTHER = Atom("other")
MAX_SHOWN = 200
"""Characters of a statement, or of an expression, that an entry has."""
_LINE_BREAK = re.compile(r"(?<![ \t])[ \t]*[\n\r\t\f\v]\s*")
_TOO_LONG = f"it has more than {MAX_TEXT} characters"
_REGISTERS = {
    ExtractedBlock: "block",
    ExtractedDefinition: "definition",
    ExtractedKernel: "kernel",
    ExtractedFallback: "fallback",
}
"""Words of entries for kinds of registrations."""
Data = dict[str, Any]
"""A mapping of the document."""


def with_answers(extractions: Sequence[Extraction]) -> list[Extraction]:
    """Answer questions by the conditions of an operator's definitions, where these are the same.

    ``if hasattr(torch.ops.my, "add"):`` asks for what C++ files define, in the builds in which they do.
    """
    definitions: dict[str, set[_When]] = {}
    for extraction in extractions:
        for item in extraction.items:
            if isinstance(item, ExtractedDefinition | CustomOperator) and isinstance(item.name, str):
                definitions.setdefault(item.name.partition(".")[0], set()).add(item.when)
    answers = {name: next(iter(whens)) for name, whens in definitions.items() if len(whens) == 1}
    return [
        extraction._replace(items=tuple(_answered(item, answers) for item in extraction.items))
        for extraction in extractions
    ]


def _answered(item: Extracted, answers: Mapping[str, _When]) -> Extracted:
    if isinstance(item, ExtractedBlock | ExtractedKernel | OperatorFunction):
        item = item._replace(when=_answered_conditions(item.when, answers))
    if isinstance(item, ExtractedDefinition | ExtractedKernel | ExtractedFallback):
        block = item.block._replace(when=_answered_conditions(item.block.when, answers))
        item = item._replace(block=block)
    return item


def _answered_conditions(when: _When, answers: Mapping[str, _When]) -> _When:
    return tuple(dict.fromkeys(part for condition in when for part in _parts(condition, answers)))


def _parts(condition: Condition, answers: Mapping[str, _When]) -> Iterator[Condition]:
    """The conditions that hold together where one does."""
    if isinstance(condition, And):
        for part in condition.operands:
            yield from _parts(part, answers)
        return
    operator = operator_asked_for(condition)
    answer = None if operator is None else answers.get("::".join(operator))
    yield from (condition,) if answer is None else answer


@lru_cache(maxsize=4096)
def is_readable(condition: Condition) -> bool:
    """True if the text of a condition, read, is the condition."""
    text = str(condition)
    if len(text) > MAX_CONDITION or not text.isprintable():
        return False
    try:
        if isinstance(condition, Atom):  # a quote that is not closed would take in what is around it
            around = And((Or((_OTHER, condition)), _OTHER))
            return parse_condition(str(around)) == around
        return parse_condition(text) == condition and all(is_readable(Atom(atom)) for atom in atoms(condition))
    except ValueError:
        return False


def readable(extraction: Extraction) -> Extraction:
    """Keep what a document can say; the rest is noted as not understood."""
    items: list[Extracted] = []
    missed = [*extraction.not_understood]
    for item in map(_with_texts_on_a_line, extraction.items):
        if (why := next(_faults(item), None)) is None:
            items.append(item)
        else:
            missed.append(NotUnderstood(item.at, "", why, item.when, why == _TOO_LONG))
    statements = tuple(part._replace(when=tuple(filter(is_readable, part.when))) for part in missed)
    return extraction._replace(items=tuple(items), not_understood=statements)


def _with_texts_on_a_line(item: Extracted) -> Extracted:
    """Put a schema that is written on several lines, which PyTorch reads like any other, on one line."""
    if isinstance(item, ExtractedDefinition | CustomOperator):
        schema = None if item.schema is None else _LINE_BREAK.sub(" ", item.schema).strip()
        return item._replace(schema=schema, why_unknown=one_line(item.why_unknown or "") or None)
    return item


def _faults(value: object) -> Iterator[str]:
    """The reason for which a document cannot say something, as a sentence."""
    if isinstance(value, Unknown):
        return
    if isinstance(value, Atom | Not | And | Or):
        if not is_readable(value):
            yield "its condition cannot be written"
        return
    if isinstance(value, str):
        if (control := control_character(value)) is not None:
            yield f"it has the character U+{ord(control):04X}"
        elif len(value) > MAX_TEXT:
            yield _TOO_LONG
        elif not value:
            yield "a name in it is empty"
    elif isinstance(value, tuple):
        falls = getattr(value, "fallthrough", False)
        for name, part in zip(getattr(value, "_fields", value), value, strict=True):
            if name != "why_unknown" and not (falls and name == "kernel"):
                yield from _faults(part)


def not_all(when: _When) -> Condition:
    """The condition that not all of some hold."""
    return negated(when[0] if len(when) == 1 else And(when))


def placed(at: Span, when: Iterable[Condition], around: Sequence[Condition] = ()) -> Data:
    """The fields ``at`` and ``when``; without the conditions of what is around it."""
    texts = [str(condition) for condition in when if condition not in around]
    return {"at": printable(str(at)), **({"when": texts[0] if len(texts) == 1 else texts} if texts else {})}


def one_line(text: str) -> str:
    """A text on one line, shortened, without characters that are not for printing."""
    line = " ".join(text.split())
    line = line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def is_decided(item: Extracted) -> bool:
    """True if everything that a registration needs is known."""
    return next(unknown_parts(item), None) is None


def unknown_parts(item: Extracted) -> Iterator[tuple[str, Unknown]]:
    """The fields of a registration, or of its block, of which the value is not known."""
    block, own_key = getattr(item, "block", item), getattr(item, "key", None)
    device = "dispatch_key" if getattr(item, "role", None) is FunctionRole.PY_IMPL else "device"
    fields = (
        ("name", operator_of(item)),
        ("namespace", getattr(block, "namespace", None)),
        ("dispatch_key", own_key if isinstance(own_key, Unknown) else getattr(block, "dispatch_key", None)),
        *((device, of_device) for of_device in getattr(item, "devices", ())),
    )
    return ((field, value) for field, value in fields if isinstance(value, Unknown))


def operator_of(item: Extracted) -> str | Unknown | None:
    """The operator that a registration is of; None for blocks and fallbacks."""
    name: str | Unknown | None = getattr(item, "name", getattr(item, "operator", None))
    return name


def key_of(item: Extracted) -> str | Unknown | None:
    """The dispatch key of a registration: its own, or that of its block."""
    own: str | Unknown | None = getattr(item, "key", None)
    return getattr(getattr(item, "block", item), "dispatch_key", None) if own is None else own


def undecided_entry(row: Extracted) -> Data:
    """The entry of a registration of which something is not known."""
    match row:
        case CustomOperator():
            registers = "triton_op" if row.triton else "custom_op"
        case OperatorFunction():
            registers = row.role.value
        case _:
            registers = _REGISTERS[type(row)]
    devices = ", ".join(device for device in getattr(row, "devices", ()) if isinstance(device, str))
    fields = {
        "namespace": getattr(getattr(row, "block", row), "namespace", None),
        "name": operator_of(row),
        "schema": getattr(row, "schema", None),
        "dispatch_key": key_of(row) or devices,
        "kernel": getattr(row, "kernel", getattr(row, "function", None)),
    }
    known = {field: one_line(value) for field, value in fields.items() if isinstance(value, str) and value.strip()}
    entry = placed(row.at, row.when) | {
        "registers": registers,
        "unknown": {field: one_line(value.expression) for field, value in unknown_parts(row)},
    }
    return {**entry, "known": known} if known else entry


def not_understood_entry(row: NotUnderstood) -> Data:
    """The entry of a statement that was not understood."""
    entry = placed(row.at, row.when) | {"text": one_line(row.text) or "…", "reason": one_line(row.why) or "not said"}
    return entry | ({"bound": True} if row.bound else {}) | ({"unread": True} if row.unread else {})


def called_function_entry(function: RegisteringFunction) -> Data:
    """The entry of a function that registers something when it is called."""
    places = [printable(str(place)) for place in function.places]
    return {"at": printable(str(function.at)), "name": function.name, "registers": places}
