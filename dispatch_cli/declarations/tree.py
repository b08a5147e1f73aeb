"""A file as a tree of positioned nodes, before anyone asks what it means.

Text stays as it was written: nothing becomes a number, a boolean or a date here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.declarations.text import quoted


class Scalar(NamedTuple):
    """A piece of text. plain: written without quotes. line, column: 1-based."""

    text: str
    plain: bool
    line: int
    column: int


class Sequence(NamedTuple):
    """A list."""

    items: tuple[Node, ...]
    line: int
    column: int


class Mapping(NamedTuple):
    """A mapping; its keys are texts, each of which occurs once."""

    pairs: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int


Node = Scalar | Sequence | Mapping

NULLS = frozenset({"", "~", "null"})
"""Texts of plain scalars that stand for nothing."""


_OTHER_THAN_TEXT = {
    **dict.fromkeys(("~", "null"), "nothing"),
    **dict.fromkeys(("true", "false", "yes", "no", "on", "off"), "a boolean"),
}
_NUMBER = re.compile(r"[-+]?(\d[\d_]*|0x[\da-fA-F_]+|0o?[0-7_]+|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|\.(inf|nan))", re.I)


def is_nothing(node: Scalar) -> bool:
    """True if a text is YAML's way of saying nothing."""
    return node.plain and node.text in NULLS


def other_than_text(node: Scalar) -> str | None:
    """Words for the value that YAML reads from text without quotes, where that is no text: ``a number``."""
    text = node.text
    if not node.plain or not text:
        return None
    if (text[0] in "+-." or text[0].isdecimal()) and _NUMBER.fullmatch(text):
        return "a number"
    return _OTHER_THAN_TEXT.get(text.lower()) if len(text) < 6 else None


def plain_data(node: Node) -> object:
    """The tree as mappings, lists and texts; numbers, booleans and nulls that are written without quotes become such.

    The depth of a tree is bounded by its reader.
    """
    if isinstance(node, Mapping):
        return {key.text: plain_data(value) for key, value in node.pairs}
    if isinstance(node, Sequence):
        return [plain_data(item) for item in node.items]
    if node.plain and node.text in ("true", "false"):
        return node.text == "true"
    if is_nothing(node):
        return None
    return int(node.text) if node.plain and node.text.isdecimal() and len(node.text) < 10 else node.text


def kind_of(node: Node) -> str:
    """Words for *node* in a message: ``a list``, ``nothing``, ``the string 'x'``."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list" if node.items else "an empty list"
    if is_nothing(node):
        return "nothing"
    return f"the string {quoted(node.text)}" if node.text else "an empty string"
