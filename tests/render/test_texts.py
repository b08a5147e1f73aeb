"""Steps that texts pass through on their way out: escapes, cells, places, wording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from dispatch_cli.render.data import SCHEMA_VERSION, json_text
from dispatch_cli.render.printed import printed
from dispatch_cli.render.text_safety import safe, safe_lines

LONG = 1 << 20


@pytest.mark.parametrize("before", [LONG + 1, LONG + 63, LONG + 65])
@pytest.mark.parametrize("command", ["::error::x", "##[error]x"])
@pytest.mark.parametrize("cut", [0, 2])
def test_a_command_behind_a_megabyte_of_blanks(before: int, command: str, cut: int) -> None:
    chunks = [" " * before + command[:cut], command[cut:], " " * 80, "\n"]
    text = "".join(printed(chunks))
    assert command[:3] not in text
    assert text.endswith("x" + " " * 80 + "\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("add_kernel [alias] ü 日本", "add_kernel [alias] ü 日本"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd\0", "a\\nb\\tc\\rd\\x00"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u200b\u202e\u2066\ufeff", "\\u200b\\u202e\\u2066\\ufeff"),
        ("\u034f\u3164\ufe0f\ufffe\U000e0100\U0010ffff", "\\u034f\\u3164\\ufe0f\\ufffe\\U000e0100\\U0010ffff"),
        ("\xa0\u3000\ue000e\u0301", "\xa0\u3000\ue000e\u0301"),
        ("\ud800\udcff", "\\ud800\\udcff"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe_lines(f"{text}\n{text}") == "\n".join(map(safe, f"{text}\n{text}".split("\n")))


@dataclass(frozen=True)
class Streamed:
    """A report whose last field is computed as it is read."""

    REPORT: ClassVar[str] = "streamed"

    nested: dict[str, list[int]]
    items: Iterator[object]


def test_a_json_document() -> None:
    nested = {"a": [1, 2]}
    head = {"schema_version": SCHEMA_VERSION, "report": "streamed", "nested": nested}
    items = [{"x": 1}, {"x": "a\nb"}, []]
    text = "".join(json_text(Streamed(nested, iter(items))))
    assert json.loads(text) == {**head, "items": items}
    assert text == json.dumps({**head, "items": items}, indent=2) + "\n"
    empty = "".join(json_text(Streamed(nested, iter([]))))
    assert json.loads(empty) == {**head, "items": []}
