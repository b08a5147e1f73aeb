"""Limits of a declaration document: a registration that it cannot say is left out.

Sources may say anything: a condition with a bracket too many, a name with a control character. Such a text in a
document would keep all of it from being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dispatch_cli.declarations.fields import MAX_CONDITION, control_character
from dispatch_cli.declarations.text import printable
from dispatch_cli.extract.undecided import one_line
from dispatch_cli.model.budget import MAX_TEXT
from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, atoms, parse_condition
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedDefinition,
    Extraction,
    NotUnderstood,
    Unknown,
)
from dispatch_cli.model.span import Span

_OTHER = Atom("other")


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


def readable(extractions: Sequence[Extraction]) -> list[Extraction]:
    """Keep what a document can say; the rest is noted as not understood."""
    return [_readable(extraction) for extraction in extractions]


def _readable(extraction: Extraction) -> Extraction:
    items: list[Extracted] = []
    missed = [*extraction.not_understood]
    for item in map(_with_texts_on_a_line, extraction.found):
        if (why := next(_faults(item), None)) is None:
            items.append(item)
        else:
            missed.append(NotUnderstood(item.at, _shown(item), why, item.when, why == _TOO_LONG))
    functions = tuple(
        function._replace(at=_printable(function.at), places=tuple(map(_printable, function.places)))
        for function in extraction.functions
    )
    statements = tuple(
        part._replace(at=_printable(part.at), when=tuple(filter(is_readable, part.when))) for part in missed
    )
    return extraction._replace(found=tuple(items), not_understood=statements, functions=functions)


_LINE_BREAK = re.compile(r"(?<![ \t])[ \t]*[\n\r\t\f\v]\s*")


def _with_texts_on_a_line(item: Extracted) -> Extracted:
    """Put a schema that is written on several lines, which PyTorch reads like any other, on one line."""
    if isinstance(item, ExtractedDefinition | CustomOperator):
        schema = None if item.schema is None else _LINE_BREAK.sub(" ", item.schema).strip()
        return item._replace(schema=schema, why_unknown=one_line(item.why_unknown or "") or None)
    return item


def _printable(at: Span) -> Span:
    return at if at.file.isprintable() else at._replace(file=printable(at.file))


_TOO_LONG = f"it has more than {MAX_TEXT} characters"


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


def _shown(item: Extracted) -> str:
    """Short text of a registration."""
    names = ("name", "operator", "schema", "namespace", "kernel", "function")
    texts = [text for name in names if isinstance(text := getattr(item, name, None), str) and text.strip()]
    return one_line(" ".join(texts[:2]))
