"""The line that a finding is about, and what is underlined in it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dispatch_cli.declarations.source import read
from dispatch_cli.model.span import Span
from dispatch_cli.render.snippets import snippet

LINE = "    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math, CPU2: x}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(line: str, column: int, mark: str | None = None, width: int | None = None) -> tuple[str, str]:
    """The line as it is shown, and what is underlined."""
    Path("a.yaml").write_text(f"first\n{line}\n", encoding="utf-8")
    read("a.yaml")
    lines = snippet(Span("a.yaml", 2, column), mark, width)
    assert lines is not None
    assert lines.number == 2
    return lines.line, lines.line[lines.start : lines.start + lines.length]


@pytest.mark.parametrize(
    ("column", "mark", "marked"),
    [
        (16, "CPU", "CPU"),
        (16, None, "CPU:"),
        (21, None, "op_cpu"),
        (21, "CPU", "op_cpu"),
        (1000, None, ""),
    ],
)
def test_the_mark_is_underlined_where_it_stands_else_the_word_there(column: int, mark: str | None, marked: str) -> None:
    assert shown(LINE, column, mark) == (LINE.strip(), marked)


def test_where_there_is_no_line() -> None:
    Path("a.yaml").write_text("one\n\n", encoding="utf-8")
    read("a.yaml")
    Path("b.yaml.gz").write_bytes(gzip.compress(b"one"))
    for span in (
        Span("a.yaml", 2, 1),
        Span("a.yaml", 9, 1),
        Span("none", 1, 1),
        Span("b.yaml.gz", 1, 1),
    ):
        assert snippet(span, None, None) is None
    assert snippet(Span(".", 1, 1), None, None) is None
    assert snippet(Span("\0", 1, 1), None, None) is None
