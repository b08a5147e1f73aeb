"""Random schemas, whole and broken: what we read, print and refuse is what PyTorch reads, prints and refuses."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.parser import parse_operator_name, parse_printed_schema, parse_schema
from tests.capture.support import torch_python
from tests.engine.live_cases import answers_to
from tests.support import load_recording


def agree(texts: list[str], judged: list[list[Answer]]) -> None:
    accepted = sum(answers[0][0] is None for answers in judged)
    assert 0.25 < accepted / len(texts) < 0.6
    assert differences(texts, judged) == []
    assert not_printed_back(judged) == []


def test_recorded_schemas() -> None:
    recorded = load_recording("2.13.0.schemas")["schemas"]
    assert len(recorded) >= 2000
    agree([text for text, _ in recorded], [[(a, b) for a, b in answers] for _, answers in recorded])


@pytest.mark.live
def test_schemas_against_live_pytorch() -> None:
    texts = [text for text, _ in load_recording("2.13.0.schemas")["schemas"]]
    agree(texts, [[(a, b) for a, b in answers] for answers in answers_to("schemas")(torch_python(), texts)])


# Our answers to schema texts beside PyTorch's.


Answer = tuple[str | None, str | None]
"""Printed text, or an exception and its text, as `tests.engine.live_answers` has it."""

_ALIAS_SETS = re.compile(r"[\w*$]+(\|[\w*$]+)+")
_TYPE_VARIABLE = re.compile(r"'[a-z]\w*' is not a type")
_NOT_UNDERSTOOD = re.compile(
    r"""
    [#\\\0] | [^\x00-\x7f] | \'{3} | "{3} | :12[89] | :[2-9]\d\d
    | 0[xX] | [\d.]j\b | e-3[0-2]\d | \d{10} | \[-?\d*[.e]
    | \*\s*\| | \|\s*\* | \[-
    | \b(?:Union|Future|Await|RRef|Dict|complex)\b
    """,
    re.VERBOSE,
)
"""Forms that no operator has."""


def ours(parse: Callable[[str], object], text: str) -> str | None:
    """Printed result of *parse* for *text*; None where it is refused."""
    try:
        return comparable(str(parse(text)))
    except SchemaError:
        return None


def comparable(text: str) -> str:
    """*text* with alias sets, which PyTorch keeps in hash tables, in order."""
    return _ALIAS_SETS.sub(lambda match: "|".join(sorted(match[0].split("|"))), text)


def differences(texts: list[str], judged: list[list[Answer]]) -> list[tuple[str, Answer, str | None]]:
    """Differences between us and PyTorch: the text, PyTorch's answer, ours.

    Left out: custom classes, which PyTorch must have met; limits of our own; what is not understood.
    """
    results = []
    for text, (_, written, name) in zip(texts, judged, strict=True):
        for parse, (refused, printed) in ((parse_schema, written), (_accepted_name, name)):
            answer = ours(parse, text)
            theirs = None if refused is not None else comparable(printed or "")
            if answer != theirs and not is_left_out(text) and "Unknown custom class" not in (printed or ""):
                results.append((text, (refused, printed), answer))
    return results


def is_left_out(text: str) -> bool:
    """True for a text with a form that is not understood, or with a type variable, which aten and prim may have."""
    if _NOT_UNDERSTOOD.search(text):
        return True
    try:
        parse_schema(text)
    except SchemaError as error:
        return text.lstrip().startswith(("aten", "prim")) and _TYPE_VARIABLE.match(error.message) is not None
    return False


def not_printed_back(judged: list[list[Answer]]) -> list[tuple[str, str | None]]:
    """Schemas that PyTorch took, and whose printed text we do not read and print as it is."""
    printed = [text for _, (refused, text), _ in judged if refused is None and text and not is_left_out(text)]
    return [(text, answer) for text in printed if (answer := ours(parse_printed_schema, text)) != comparable(text)]


def _accepted_name(text: str) -> str:
    parse_operator_name(text)
    return ""
