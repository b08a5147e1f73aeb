"""Every message of PyTorch in the table is judged, and those that are said to be understood are."""

from __future__ import annotations

import re
from functools import cache

import pytest

from dispatch_cli.answers.errors.messages import MESSAGES, patterns
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.errors.template import expression
from tests.messages.sample import sample
from tests.messages.table import REASONS, Row, Text, read, read_texts
from tests.support import load_recording, slot_errors

KINDS = tuple(kind for kind, message in MESSAGES.items() if message.templates)
VERSIONS = ("2.4.1", "2.13.0", "2.15.0")
ROWS = read()
IN_PIECES = tuple(row for row in ROWS if row.sources[0].startswith("lib/"))
"""Strings of libraries; the other rows are whole texts."""


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@cache
def printed() -> tuple[Text, ...]:
    """Texts that live PyTorch printed, and those that `texts.tsv` has from its sources."""
    recorded = [
        Text(recorded["kind"], recorded["text"], version)
        for version in VERSIONS
        for recorded in load_recording(f"{version}.messages")["messages"]
        if recorded["kind"] in KINDS
    ]
    slots = [
        Text(find_errors(error["text"])[0].kind, error["text"], version)
        for version in VERSIONS
        for error in slot_errors(version)[:16]
    ]
    return (*recorded, *slots, *read_texts())


def test_every_message_is_judged() -> None:
    assert len(ROWS) > 1400
    assert {row.judgement for row in ROWS} - set(KINDS) - set(REASONS) == set()
    assert {version for row in ROWS for version in row.versions} == set(VERSIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_texts_are_understood(kind: str) -> None:
    """Texts of Python and of headers, with names filled in."""
    for row in ROWS:
        if row.judgement == kind and row not in IN_PIECES:
            assert kind in {error.kind for error in find_errors(sample(row))}, sample(row)


def test_what_is_not_understood_is_not_answered() -> None:
    """A text that is judged to be about something else is not taken for one that is understood."""
    for row in ROWS:
        if row.judgement in REASONS and row not in IN_PIECES:
            assert all(MESSAGES[error.kind].general for error in find_errors(sample(row))), sample(row)


def test_pieces_are_part_of_a_text_that_is_understood() -> None:
    texts: dict[str, list[str]] = {}
    for text in printed():
        texts.setdefault(text.kind, []).append(flat(text.text))
    for row in IN_PIECES:
        if row.judgement in KINDS and not _found(row):
            assert any(flat(row.text) in text for text in texts[row.judgement]), row


def _found(row: Row) -> bool:
    return row.judgement in {error.kind for error in find_errors(row.text)}


def test_texts_from_the_sources_are_understood() -> None:
    for text in read_texts():
        kinds = {error.kind for error in find_errors(f"torch 2.13.0\n{text.text}")}
        assert text.kind in kinds or (text.kind in REASONS and all(MESSAGES[kind].general for kind in kinds)), text


def test_every_template_is_a_text_of_pytorch() -> None:
    """Each is found in what a PyTorch printed, in its source, or in a row of the table."""
    texts = [text.text for text in printed()] + [sample(row) for row in ROWS]
    quoted = [f"{row.text} x" for row in IN_PIECES]
    missing = []
    for kind, template, words in patterns():
        pattern = re.compile(expression(template))
        if not any(words[0] in text and pattern.search(text) for text in (*texts, *quoted)):
            missing.append((kind, template))
    assert missing == []


def test_every_kind_is_seen() -> None:
    """Every kind has a text that a PyTorch printed, or one from its source."""
    seen = {text.kind for text in printed()} | {row.judgement for row in ROWS}
    assert {kind for kind, message in MESSAGES.items() if message.templates} - seen == set()
