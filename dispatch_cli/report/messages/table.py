"""All messages, by kind, and the patterns that find them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from dispatch_cli.report.messages import (
    checks,
    definitions,
    devices,
    fake,
    gradients,
    lookup,
    python,
    registration,
    slots,
    symbols,
    transforms,
)
from dispatch_cli.report.messages.kinds import Message, TextKind
from dispatch_cli.report.messages.template import words

_PARTS = (slots, fake, devices, symbols, gradients, transforms, registration, definitions, lookup, python, checks)
MESSAGES: dict[TextKind, Message] = {one.kind: one for part in _PARTS for one in part.MESSAGES}


class TextPattern(NamedTuple):
    """A template of a kind. words: those that each of its texts has, the longest first."""

    kind: TextKind
    text: str
    words: tuple[str, ...]


@cache
def patterns() -> tuple[TextPattern, ...]:
    """Each template of each message."""
    return tuple(TextPattern(one.kind, text, words(text)) for one in MESSAGES.values() for text in one.templates)


class _Names(dict[str, str]):
    """What a text filled in; a name that it does not have stands for itself."""

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
    "mode": "such",
    "reason": "see the text after 'failed with'",
}


def filled(text: str, operator: str | None, key: str | None, details: tuple[tuple[str, str], ...]) -> str:
    """A sentence of a message with the names of a text."""
    names = _Names(details)
    names |= {name: value for name, value in (("op", operator), ("key", key)) if value is not None}
    return re.sub(r"\{(\w+)\}", lambda hole: names[hole[1]], text)


def looked_for() -> tuple[str, ...]:
    """The commonest texts, as a person may look for them."""
    kinds = (
        TextKind.NO_KERNEL,
        TextKind.NO_TENSORS,
        TextKind.NO_META,
        TextKind.AMBIGUOUS,
        TextKind.NO_AUTOGRAD,
        TextKind.NO_PYTHON_KERNEL,
        TextKind.NO_BATCHING_RULE,
        TextKind.NO_FAKE,
        TextKind.NOT_DEFINED,
        TextKind.DEFINED_TWICE,
        TextKind.INFERENCE_TENSOR,
    )
    texts = (re.sub(r"\[\[.*\]\]", "", MESSAGES[kind].templates[0]) for kind in kinds)
    return tuple(re.sub(r"\{([\w*]+)\}", lambda hole: hole[1].upper().replace("**", "…"), text) for text in texts)
