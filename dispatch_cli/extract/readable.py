"""Limits of a declaration document: a condition that it cannot say is given a name, a registration is left out.

Sources may say anything: a condition with a bracket too many, a name with a control character. Such a text in a
document would keep all of it from being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from dispatch_cli.declarations.fields import control_character
from dispatch_cli.declarations.places import MAX_CONDITION
from dispatch_cli.declarations.text import printable
from dispatch_cli.extract.undecided import one_line
from dispatch_cli.model.budget import MAX_TEXT
from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, atoms, parse_condition
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    NotUnderstood,
    Unknown,
)
from dispatch_cli.model.span import Span

When = tuple[Condition, ...]
_OTHER = Atom("other")
_Item = TypeVar("_Item", bound=Extracted | NotUnderstood)


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
    maker = _Readable()
    return [maker.extraction(extraction) for extraction in extractions]


class _Readable:
    """known: what a condition was replaced by. taken: the names that were given."""

    def __init__(self) -> None:
        self._known: dict[Condition, Condition] = {}
        self._taken: set[str] = set()
        self._blocks: dict[ExtractedBlock, ExtractedBlock] = {}

    def extraction(self, extraction: Extraction) -> Extraction:
        items: list[Extracted] = []
        missed = [self._missed(statement) for statement in extraction.not_understood]
        for item in map(_with_schema_on_a_line, extraction.found):
            if (why := next(_faults(item), None)) is None:
                items.append(self._item(item))
            else:
                bound = why == _TOO_LONG
                missed.append(self._missed(NotUnderstood(item.at, _shown(item), why, item.when, bound)))
        functions = tuple(
            function._replace(at=_printable(function.at), places=tuple(map(_printable, function.places)))
            for function in extraction.functions
        )
        return extraction._replace(found=tuple(items), not_understood=tuple(missed), functions=functions)

    def _missed(self, statement: NotUnderstood) -> NotUnderstood:
        return self._with_conditions(statement._replace(at=_printable(statement.at)))

    def _item(self, item: Extracted) -> Extracted:
        if isinstance(item, ExtractedBlock):
            return self._block(item)
        if isinstance(item, ExtractedDefinition | CustomOperator) and item.why_unknown:
            item = item._replace(why_unknown=one_line(item.why_unknown) or None)
        placed = self._with_conditions(item)
        if isinstance(placed, ExtractedDefinition | ExtractedKernel | ExtractedFallback):
            return placed._replace(block=self._block(placed.block))
        return placed

    def _block(self, block: ExtractedBlock) -> ExtractedBlock:
        if block not in self._blocks:
            self._blocks[block] = self._with_conditions(block)
        return self._blocks[block]

    def _with_conditions(self, item: _Item) -> _Item:
        if all(map(is_readable, item.when)):
            return item
        when = tuple(dict.fromkeys(self._condition(each, item.at) for each in item.when))
        return item._replace(when=when)  # type: ignore[return-value]

    def _condition(self, condition: Condition, at: Span) -> Condition:
        if is_readable(condition):
            return condition
        if condition not in self._known:
            self._known[condition] = self._replaced(condition, at)
        return self._known[condition]

    def _replaced(self, condition: Condition, at: Span) -> Condition:
        replaced: Condition
        match condition:
            case Atom():
                return self._name(at)
            case Not(operand):
                replaced = Not(self._condition(operand, at))
            case And(operands):
                replaced = And(tuple(self._condition(operand, at) for operand in operands))
            case Or(operands):
                replaced = Or(tuple(self._condition(operand, at) for operand in operands))
        return replaced if is_readable(replaced) else self._name(at)

    def _name(self, at: Span) -> Atom:
        """A name for a condition of what is at that place."""
        name = f"condition at {at}"
        name = name if is_readable(Atom(name)) else "condition"
        number, chosen = 1, name
        while chosen in self._taken:
            number += 1
            chosen = f"{name} #{number}"
        self._taken.add(chosen)
        return Atom(chosen)


_LINE_BREAK = re.compile(r"(?<![ \t])[ \t]*[\n\r\t\f\v]\s*")


def _with_schema_on_a_line(item: Extracted) -> Extracted:
    """Put a schema that is written on several lines, which PyTorch reads like any other, on one line."""
    if isinstance(item, ExtractedDefinition | CustomOperator) and item.schema is not None:
        return item._replace(schema=_LINE_BREAK.sub(" ", item.schema).strip())
    return item


def _printable(at: Span) -> Span:
    return at if at.file.isprintable() else at._replace(file=printable(at.file))


_TOO_LONG = f"it has more than {MAX_TEXT} characters"


def _faults(value: object) -> Iterator[str]:
    """Why a document cannot say something, as a sentence."""
    if isinstance(value, Unknown | Atom | Not | And | Or):
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
