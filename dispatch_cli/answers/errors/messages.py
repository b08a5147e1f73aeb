"""All messages of PyTorch about operators and dispatch, by kind: ``messages.txt``.

Beside them, the patterns that find them, and sentences with the names of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.answers.errors.template import words
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.text import printed_texts

SLOT, EVIDENCE = "slot", "evidence"
"""The advice that depends on a slot, and words that may stand anywhere in a text: neither has texts of its own."""
NO_KERNEL = "no-kernel"
NO_META = "no-meta"
NO_AUTOGRAD = "no-autograd"
NO_BATCHING_RULE = "no-batching-rule"
NOT_ON_DEVICE = "not-on-device"
AMBIGUOUS = "ambiguous"
OVERRIDDEN = "overridden"
NOT_DEFINED = "not-defined"
"""The kinds of which an answer says more than their message."""


class Message(NamedTuple):
    """The texts of one kind; ``messages.txt`` says what the fields mean.

    kind: its name in machine formats.
    """

    kind: str
    says: str
    templates: tuple[str, ...]
    key: str | None
    means: str
    user: tuple[str, ...]
    author: tuple[str, ...]
    rules: tuple[Rule, ...]
    warning: bool
    general: bool
    words: tuple[str, ...]
    kernels: tuple[str, ...]


def _messages() -> Iterable[Message]:
    """The kinds of the file."""
    lines = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8").replace("\n  ", " ").split("\n")
    kinds: dict[str, dict[str, list[str]]] = {}
    fields: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("["):
            kinds[line.strip("[]")] = fields = {}
        elif line and not line.startswith("#"):
            field, _, value = line.partition(" ")
            fields.setdefault(field, []).append(value)
    for kind, fields in kinds.items():
        yield Message(
            kind,
            says=fields.get("says", [""])[0],
            templates=tuple(
                _SHARED.sub(lambda name: getattr(printed_texts, name[1]), text) for text in fields.get("text", ())
            ),
            key=fields.get("key", [None])[0],
            means=" ".join(fields.get("means", ())),
            user=tuple(fields.get("user", ())),
            author=tuple(fields.get("author", ())),
            rules=tuple(Rule[name] for name in " ".join(fields.get("rules", ())).split()),
            warning="warning" in fields,
            general="general" in fields,
            words=tuple(fields.get("words", ())),
            kernels=tuple(fields.get("kernel", ())),
        )


_SHARED = re.compile(r"<([A-Z_]{5,})>")
"""A text that the engine raises, too."""
MESSAGES = {message.kind: message for message in _messages()}
_CONDITIONS = re.compile(r"(?:\[[!+]?\w+\])+ ")
_CONDITION = re.compile(r"\[(?P<sign>[!+]?)(?P<detail>\w+)\]")


@cache
def patterns() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Each template of each kind, with the words that all of its texts have, the longest first."""
    return tuple((kind, template, words(template)) for kind, item in MESSAGES.items() for template in item.templates)


_MISSING = {"op": "the operator", "its_package": "a package", "other_device": "another one", "argument": "an argument"}
"""Words for names that a text does not have."""


def filled(text: str, names: Mapping[str, str]) -> str:
    """A sentence of a message with the names of a text; a part in ``[[ ]]`` only where the text has its names."""

    def optional(part: re.Match[str]) -> str:
        return part[1] if all(name in names for name in re.findall(r"\{(\w+)\}", part[1])) else ""

    kept = re.sub(r"  +", " ", re.sub(r"\[\[(.*?)\]\]", optional, text))
    return re.sub(r"\{(\w+)\}", lambda hole: names.get(hole[1], _MISSING.get(hole[1], f"that {hole[1]}")), kept).strip()


def evidence(text: str, field: str = "words") -> Iterator[tuple[str, str]]:
    """The details whose expressions match: of ``words`` in a text, of ``kernels`` in a kernel's name and dtypes."""
    for name, pattern in _evidence(field):
        if pattern.search(text):
            yield name, ""


@cache
def _evidence(field: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    parts = (line.partition(" ") for line in getattr(MESSAGES[EVIDENCE], field))
    return tuple((name, re.compile(expression)) for name, _, expression in parts)


AT_MOST = 3
"""Number of pieces of advice that an answer gives: who reads further has tried the likely ones."""


def advice(texts: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """The advice of a message that is for such a text, the best first.

    names: of the text, and of conditions that hold.
    """
    first: list[str] = []
    others: list[str] = []
    for text in texts:
        conditions = _CONDITIONS.match(text)
        end = 0 if conditions is None else conditions.end()
        asked = [(part["sign"], part["detail"] in names) for part in _CONDITION.finditer(text, 0, end)]
        if all(holds is (sign != "!") for sign, holds in asked if sign != "+"):
            (first if ("+", True) in asked else others).append(filled(text[end:], names))
    return (*first, *others)[:AT_MOST]
