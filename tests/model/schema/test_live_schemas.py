"""Random schemas, whole and broken: what we read, print and refuse is what PyTorch reads, prints and refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from dispatch_cli.bindings.errors import raised_for, read_name
from dispatch_cli.model.schema import SchemaError, parse_printed_schema, parse_schema
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
    agree([text for text, _ in recorded[::2]], [[(a, b) for a, b in answers] for _, answers in recorded[::2]])


@pytest.mark.live
def test_schemas_against_live_pytorch() -> None:
    texts = [text for text, _ in load_recording("2.13.0.schemas")["schemas"]]
    agree(texts, [[(a, b) for a, b in answers] for answers in answers_to("schemas")(torch_python(), texts)])


# Our answers to schema texts beside PyTorch's.


Answer = tuple[str | None, str | None]
"""Printed text, or an exception and its text, as `tests.engine.live_answers` has it."""

LIMITS = re.compile(r"nested more than|longer than|Union types are not supported|cannot stand for a list of")
_BUILD_PATH = re.compile(r'FAILED at "[^"]*/((?:aten|c10|torch)/[^"]*)":\d+')
_BYTE_PLACE = re.compile(r"(?<=can't decode byte 0x.. )in position \d+")
_ALIAS_SETS = re.compile(r"[\w*$]+(\|[\w*$]+)+")


def ours(parse: Callable[[str], object], text: str) -> Answer:
    """Result of *parse* for *text*, where the bindings' errors are PyTorch's."""
    try:
        return None, str(parse(text))
    except SchemaError as error:
        raised = raised_for(error)
        return type(raised).__name__, str(raised)
    except Exception as error:
        return type(error).__name__, str(error)


def comparable(text: str | None) -> str | None:
    """*text* without the path and line in PyTorch's build; alias sets, which PyTorch keeps in hash tables, in order.

    Where such a text cannot be decoded, Python says the place of the byte, which depends on the path.
    """
    if text is None:
        return None
    text = _BYTE_PLACE.sub("in position N", text)
    text = _BUILD_PATH.sub(r'FAILED at "\1"', text)
    return _ALIAS_SETS.sub(lambda match: "|".join(sorted(match[0].split("|"))), text)


def differences(texts: list[str], judged: list[list[Answer]]) -> list[tuple[str, Answer, Answer]]:
    """Differences between us and PyTorch: the text, PyTorch's answer, ours.

    Left out: custom classes, which PyTorch must have met; what is beyond our limits; what is
    printed as no UTF-8; unions, which PyTorch makes of ``Scalar??`` as well.
    """
    parsers = (parse_schema, partial(parse_schema, allow_typevars=False), _accepted_name)
    results = []
    for text, answers in zip(texts, judged, strict=True):
        for parse, theirs in zip(parsers, answers, strict=True):
            answer = ours(parse, text)
            if LIMITS.search(answer[1] or "") or re.search(
                r"Unknown custom class|^Union|[^\w]Union\(", theirs[1] or ""
            ):
                continue
            if theirs == (None, None) and answer[0] is None:
                continue
            if (answer[0], comparable(answer[1])) != (theirs[0], comparable(theirs[1])):
                results.append((text, theirs, answer))
    return results


def not_printed_back(judged: list[list[Answer]]) -> list[tuple[str, Answer]]:
    """Schemas that PyTorch took, and whose printed text we do not read and print as it is."""
    printed = [text for (refused, text), *_ in judged if refused is None and text and "Union(" not in text]
    return [(text, answer) for text in printed if (answer := ours(parse_printed_schema, text)) != (None, text)]


def _accepted_name(text: str) -> str:
    read_name(text)
    return ""
