"""All messages, by kind, the patterns that find them, and sentences with the names of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.answers.errors.messages import (
    asides,
    calls,
    devices,
    gradients,
    lookup,
    other,
    python,
    registration,
    slots,
    tracing,
)
from dispatch_cli.answers.errors.template import words

_PARTS = (slots, tracing, devices, gradients, registration, lookup, python, calls, asides, other)
MESSAGES: dict[str, Message] = {message.kind: message for part in _PARTS for message in part.MESSAGES}
_CONDITION = re.compile(r"\[(?P<without>!?)(?P<detail>\w+)\] ")


class TextPattern(NamedTuple):
    """A template of a kind. words: those that each of its texts has, the longest first."""

    kind: str
    text: str
    words: tuple[str, ...]


@cache
def patterns() -> tuple[TextPattern, ...]:
    """Each template of each message."""
    return tuple(TextPattern(kind, text, words(text)) for kind, one in MESSAGES.items() for text in one.templates)


class _Names(dict[str, str]):
    """Values of holes; a name that the text does not have stands for itself."""

    def __missing__(self, name: str) -> str:
        return _MISSING.get(name, name)


_MISSING = {
    "op": "the operator",
    "key": "that key",
    "namespace": "that namespace",
    "overload": "of that name",
    "device": "that device",
    "other_device": "another one",
    "dtype": "that dtype",
    "function": "the function",
    "argument": "an argument",
    "symbol": "a symbol",
}


def filled(text: str, operator: str | None, key: str | None, details: tuple[tuple[str, str], ...]) -> str:
    """A sentence of a message with the names of a text; a part in ``[[ ]]`` only where the text has its names."""
    names = _Names(details)
    names |= {name: value for name, value in (("op", operator), ("key", key)) if value is not None}

    def optional(part: re.Match[str]) -> str:
        return part[1] if all(name in names for name in re.findall(r"\{(\w+)\}", part[1])) else ""

    return re.sub(r"\{(\w+)\}", lambda hole: names[hole[1]], re.sub(r"\[\[(.*?)\]\]", optional, text)).strip()


def advice(
    texts: Iterable[str], operator: str | None, key: str | None, details: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """The advice of a message that is for such a text."""
    names = {name for name, _ in details}
    kept = []
    for text in texts:
        condition = _CONDITION.match(text)
        if condition is None or (condition["detail"] in names) is not bool(condition["without"]):
            kept.append(filled(text[condition.end() :] if condition else text, operator, key, details))
    return tuple(kept)
