"""A file as a tree of positioned nodes, before anyone asks what it means.

Text stays as it was written: nothing becomes a number, a boolean or a date here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from typing import NamedTuple

from dispatch_cli.model.budget import Budget, weight
from dispatch_cli.model.text.quoting import MAX_QUOTED, quoted

_START = (1, 1)


class Scalar(NamedTuple):
    """A piece of text. plain: written without quotes. line, column: 1-based."""

    text: str
    plain: bool
    line: int
    column: int


class Sequence(NamedTuple):
    items: tuple[Node, ...]
    line: int
    column: int


class Mapping(NamedTuple):
    """A mapping; its keys are texts, each of which occurs once."""

    pairs: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int


Node = Scalar | Sequence | Mapping


_OTHER_THAN_TEXT = {
    **dict.fromkeys(("~", "null"), "nothing"),
    **dict.fromkeys(("true", "false", "yes", "no", "on", "off"), "a boolean"),
}
_NUMBER = re.compile(r"[-+]?(\d[\d_]*|0x[\da-fA-F_]+|0o?[0-7_]+|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|\.(inf|nan))", re.I)


def is_nothing(node: Scalar) -> bool:
    """True if a text is YAML's way of saying nothing."""
    return node.plain and node.text in ("", "~", "null")


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
    if (other := other_than_text(node)) is not None:
        return f"{node.text[:MAX_QUOTED]}, which is {other}"
    return f"the string {quoted(node.text)}" if node.text else "an empty string"


class ExtractedDocument(NamedTuple):
    """A declaration file as plain data: mappings, lists, texts, numbers and booleans.

    name: what it is called where no place in the sources is to blame. lines: gives the lines of a source file, which
    are shown where a place in it is to blame; none where it cannot be read.
    """

    name: str
    data: AnyMapping[str, object]
    lines: Callable[[str], AnySequence[str]] = lambda _: ()


def tree_of(data: object, budget: Budget) -> Node:
    """Plain data as a tree, as if it were written at the start of a file. Its depth is that of the format.

    Errors: OverBudget.
    """
    if isinstance(data, AnyMapping):
        budget.spend(1)
        pairs = tuple((_scalar(str(key), budget), tree_of(value, budget)) for key, value in data.items())
        return Mapping(pairs, *_START)
    if isinstance(data, list | tuple):
        budget.spend(1)
        return Sequence(tuple(tree_of(item, budget) for item in data), *_START)
    if isinstance(data, str):
        return _scalar(data, budget)
    budget.spend(1)
    return Scalar("null" if data is None else str(data).lower(), True, *_START)


def _scalar(text: str, budget: Budget) -> Scalar:
    budget.spend(weight(text))
    return Scalar(text, False, *_START)
