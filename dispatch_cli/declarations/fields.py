"""Reading nodes by the table of the format, noting every mistake; the fields ``at`` and ``when``, which many have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.declarations.formats.format_types import FALLTHROUGH, Record, Type
from dispatch_cli.declarations.problems import MAX_PROBLEMS, Problems
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence, is_nothing, kind_of, other_than_text
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.quoting import quoted
from dispatch_cli.model.text.suggest import did_you_mean, similar, suggestion

if TYPE_CHECKING:
    from dispatch_cli.model.conditions.condition import Condition

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

AT, WHEN = "at", "when"
_TRUE = ("true", "yes", "on")
MAX_CONDITION = 2_000
"""Characters of the text of one condition."""
_PLACE = re.compile(r"(.+?):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?", re.S)
_HINT = "write it as FILE:LINE or FILE:LINE:COLUMN"


class Values(dict[str, "Node | None"]):
    """The fields of a mapping that are written there; None for one whose value is of the wrong type, which is noted.

    node: the mapping, or the text that stands for it.
    """

    __slots__ = ("node", "problems")

    def __init__(self, problems: Problems, node: Node) -> None:
        self.problems = problems
        self.node = node

    def text(self, name: str) -> str | None:
        """The text of a field, as `text_of` reads it."""
        node = self.get(name)
        return None if node is None else text_of(self.problems, node)

    def texts(self, name: str, words: str = "a string") -> tuple[str, ...]:
        """The texts of a field that takes one, or a list of them; where something else is, *words* were expected."""
        texts = (text_of(self.problems, item) for item in self.scalars(name, words))
        return tuple(text for text in texts if text is not None)

    def scalars(self, name: str, words: str = "a string") -> Iterator[Scalar]:
        """The nodes of these texts."""
        return scalars(self.problems, self.get(name), words)

    def flag(self, name: str) -> bool | None:
        """The value of a boolean field; None when it is not written."""
        node = self.get(name)
        return node.text == "true" if type(node) is Scalar else None

    def place(self, name: str = AT) -> Span | None:
        """The place that a field names; None, noting why, where it names none."""
        return read_place(self.problems, self.get(name))


def pairs_of(node: Node | None) -> tuple[tuple[Scalar, Node], ...]:
    """The pairs of a mapping; none of anything else."""
    return node.pairs if type(node) is Mapping else ()


def items_of(node: Node | None) -> tuple[Node, ...]:
    """The items of a list, or the one value that is not in a list."""
    return node.items if type(node) is Sequence else () if node is None else (node,)


def read_record(problems: Problems, node: Node | None, record: Record) -> Values | None:
    """The fields of a mapping; None when it is none. Unknown and missing fields and wrong types are noted."""
    if type(node) is not Mapping:
        if node is not None:
            expect(problems, node, f"a mapping with the fields of {record.words}")
        return None
    values = Values(problems, node)
    unknown: list[Scalar] = []
    by_name = record.by_name
    for key, value in node.pairs:
        name = key.text
        field = by_name.get(name)
        if field is None:
            unknown.append(key)
        else:
            values[name] = value if fits(problems, value, field.type) else None
    if unknown:
        _note_unknown(problems, unknown, record)
    _note_missing(values, unknown, record)
    if not record.bound.isdisjoint(values):
        _leave_out_misplaced(values, record)
    return values


def read_named(problems: Problems, node: Node, record: Record) -> Values | None:
    """The fields of a mapping, or of a text that stands for its field ``kernel`` or for ``fallthrough: true``.

    None, noting it, where there is neither.
    """
    if type(node) is not Scalar:
        return read_record(problems, node, record)
    if not node.text:
        expect(problems, node, record.words)
        return None
    values = Values(problems, node)
    if node.text == FALLTHROUGH and node.plain and FALLTHROUGH in record.by_name:
        values[FALLTHROUGH] = node._replace(text="true")
    else:
        values["kernel"] = node
    return values


def read_records(problems: Problems, section: Node | None, record: Record) -> Iterator[Values]:
    """The fields of each mapping of a list; what is none is noted."""
    for node in section.items if type(section) is Sequence else ():
        if (values := read_record(problems, node, record)) is not None:
            yield values


def _leave_out_misplaced(values: Values, record: Record) -> None:
    """Note the fields that others rule out, and leave out their values."""
    for name in record.bound.intersection(values):
        field, node = record.by_name[name], values[name]
        if node is None:
            continue
        other = next((other for other in field.excludes if other in values), None)
        if other is not None:
            message = f"{record.words} with the field {other!r} has no field {name!r}"
        elif field.needs and values.keys().isdisjoint(field.needs):
            message = f"{name!r} is only for {record.words} with the field {' or '.join(map(repr, field.needs))}"
        else:
            continue
        values.problems.add("bad-value", message, node)
        values[name] = None


def _note_unknown(problems: Problems, unknown: list[Scalar], record: Record) -> None:
    names = tuple(record.by_name)
    for key in unknown:

        def hint(text: str = key.text) -> str:
            return did_you_mean(_meant(text, record)) or f"the fields are {', '.join(names)}"

        problems.add("unknown-field", f"{record.words} has no field {quoted(key.text)}", key, hint)


def _note_missing(values: Values, unknown: list[Scalar], record: Record) -> None:
    for field in record.required:
        if field.name not in values and not _is_misspelt((field.name,), unknown, record):
            hint = f"write {field.name}: {field.type.choices[0]}" if len(field.type.choices) == 1 else None
            message = f"{record.words} needs the field {field.name!r}"
            values.problems.add("missing-field", message, values.node, hint)
    one_of = record.one_of
    if one_of and values.keys().isdisjoint(one_of) and not _is_misspelt(one_of, unknown, record):
        message = f"{record.words} needs one of the fields {', '.join(map(repr, one_of))}"
        values.problems.add("missing-field", message, values.node)


def _is_misspelt(names: tuple[str, ...], unknown: list[Scalar], record: Record) -> bool:
    """True if a field is there under another name, whose own problem says enough."""
    return any(set(_meant(key.text, record)) & set(names) for key in unknown[:MAX_PROBLEMS])


def _meant(text: str, record: Record) -> list[str]:
    """The fields that an unknown one may stand for: that whose description has PyTorch's word, or a name is close."""
    named = [field.name for field in record.fields if f"`{text}`" in field.doc or f".{text}`" in field.doc]
    return named if len(named) == 1 else similar(text, record.by_name)


def fits(problems: Problems, node: Node, kind: Type) -> bool:
    """True if *node* is of the type, noting it when not."""
    if type(node) not in kind.shapes:
        expect(problems, node, kind.words)
        return False
    if type(node) is Sequence and not node.items and kind.filled:
        expect(problems, node, kind.words)
        return False
    if type(node) is not Scalar:
        return True
    if kind.choices and Mapping not in kind.shapes:
        if node.text in kind.choices and (node.plain or not kind.plain):
            return True
        hint = None if kind.plain else suggestion(node.text, kind.choices)
        if kind.plain and node.text in kind.choices:
            hint = "remove the quotes"
        elif "true" in kind.choices and other_than_text(node) == "a boolean":
            hint = f"write {'true' if node.text.lower() in _TRUE else 'false'}"
        problems.add("wrong-type" if kind.plain else "bad-value", _expected(kind.words, node), node, hint)
        return False
    if not node.text:
        expect(problems, node, kind.words)
        return False
    return True


def scalars(problems: Problems, node: Node | None, words: str = "a string") -> Iterator[Scalar]:
    """The texts of a value that is one, or a list of them; where something else is, *words* were expected."""
    for item in items_of(node):
        if type(item) is Scalar and item.text:
            yield item
        else:
            expect(problems, item, words)


def expect(problems: Problems, node: Node, words: str) -> None:
    """Note that something else was expected of *node*."""
    hint = None
    if type(node) is Scalar and is_nothing(node):
        hint = "give it a value, or remove the field"
    problems.add("wrong-type", _expected(words, node), node, hint)


def _expected(words: str, node: Node) -> str:
    return f"expected {words}, found {kind_of(node)}"


def text_of(problems: Problems, node: Node | None) -> str | None:
    """The text of a name or debug text; None, noting it, where it is a boolean, a number, or has control characters."""
    if type(node) is Scalar and other_than_text(node) is not None:
        hint = f'write "{node.text}" with quotes if you mean the string'
        problems.add("wrong-type", _expected("a string", node), node, hint)
        return None
    return word_of(problems, node)


def word_of(problems: Problems, node: Node | None) -> str | None:
    """The text as of `text_of`, where nothing but a text makes sense, as in the name of a field."""
    if type(node) is not Scalar:
        return None
    text = node.text
    if (sign := control_character(text)) is not None:
        problems.add("control-character", f"a one-line string cannot contain the character U+{ord(sign):04X}", node)
        return None
    return text


def parts(text: str) -> Iterator[tuple[str, int]]:
    """The parts of a text that are separated by commas, without spaces around them, and where each begins."""
    offset = 0
    for part in text.split(","):
        yield part.strip(), offset + len(part) - len(part.lstrip())
        offset += len(part) + 1


def control_character(text: str) -> str | None:
    """The first character that the text of a file cannot have."""
    match = None if text.isprintable() else _CONTROL.search(text)
    return None if match is None else match[0]


def read_place(problems: Problems, node: Node | None) -> Span | None:
    """The place that a field ``at`` names; None, noting why, where it names none."""
    text = word_of(problems, node)
    if text is None or type(node) is not Scalar:
        return None
    place = parse_place(text)
    if place is None:
        problems.add("bad-place", f"{quoted(text)} is not a place in a file", node, _HINT)
    else:
        problems.source_of(place.file)
    return place


def parse_place(text: str) -> Span | None:
    """The place that a text names; None where it names none."""
    match = _PLACE.fullmatch(text)
    return None if match is None else Span(match[1], int(match[2]), int(match[3] or 1))


def read_conditions(problems: Problems, known: dict[str, Condition], node: Node | None) -> Iterator[Condition]:
    """The conditions of a field ``when``; those that cannot be read are noted. known: those that were read before."""
    if node is None:
        return
    from dispatch_cli.model.conditions.condition import parse_condition

    for item in scalars(problems, node, "a condition"):
        if (text := word_of(problems, item)) is None:
            continue
        try:
            if len(text) > MAX_CONDITION:
                raise ValueError(f"it has more than {MAX_CONDITION} characters")
            known[text] = known.get(text) or parse_condition(text)
        except ValueError as error:
            problems.add("bad-condition", f"the condition {quoted(text)} cannot be read: {error}", item)
        else:
            yield known[text]
