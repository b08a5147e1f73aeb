"""Steps that texts pass through on their way out: escapes, cells, places, wording."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from dispatch_cli.render.data import SCHEMA_VERSION, json_text
from dispatch_cli.render.document import Column, TableBlock
from dispatch_cli.render.markdown import markdown
from dispatch_cli.render.printed import printed
from dispatch_cli.render.sheet import Sheet, csv_text
from dispatch_cli.render.text_safety import safe, safe_lines

LONG = 1 << 20


@pytest.mark.parametrize("before", [LONG + 1, LONG + 62, LONG + 63, LONG + 64, LONG + 65, 1_100_000])
@pytest.mark.parametrize("command", ["::error::x", "##[error]x"])
@pytest.mark.parametrize("cut", [0, 1, 2, 5])
def test_a_command_behind_a_megabyte_of_blanks(before: int, command: str, cut: int) -> None:
    chunks = [" " * before + command[:cut], command[cut:], " " * 80, "\n"]
    text = "".join(printed(chunks))
    assert command[:3] not in text
    assert text.endswith("x" + " " * 80 + "\n")


def test_what_follows_a_long_text_is_no_command() -> None:
    assert "".join(printed(["x" * 1_100_000, "::error::x\n"])).endswith("x::error::x\n")


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


def test_nothing_that_commands_a_terminal_is_left() -> None:
    commands = {chr(i) for i in (*range(32), *range(0x7F, 0xA0))}
    directions = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert not (commands | directions) & set(safe("".join(commands | directions)))


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


def test_csv_reads_back() -> None:
    rows = [("a", 'b "c", d'), ("", " e "), ("=1+1", "x;y")]
    text = "".join(csv_text(Sheet(("one", "two"), iter(rows)), exact=True))
    assert list(csv.reader(io.StringIO(text))) == [["one", "two"], *map(list, rows)]
    marked = "".join(csv_text(Sheet(("one", "two"), iter(rows))))
    assert list(csv.reader(io.StringIO(marked)))[1:] == [["a", 'b "c", d'], ["", " e "], ["'=1+1", "x;y"]]
    assert "".join(csv_text(Sheet(("one", "two"), ()))) == "one,two\n"
    assert "".join(csv_text(Sheet(("one",), [("a\x1b\nb",)]))) == "one\na\\x1b\\nb\n"


def test_markdown_cells_are_no_markup() -> None:
    columns: list[Column[tuple[str, str]]] = [
        Column("x", lambda row, _: row[0]),
        Column("y", lambda row, _: row[1]),
    ]
    rows = [("CPU[alias]: fn", "a|b `c` *d* _e_ <f> \\ ~g~ #h\ni")]
    assert "".join(markdown([TableBlock(columns, rows)])) == (
        "| x | y |\n| --- | --- |\n"
        "| CPU\\[alias\\]: fn | a\\|b \\`c\\` \\*d\\* \\_e\\_ \\<f> \\\\ \\~<!-- -->g\\~ \\#h\\\\ni |\n"
    )
