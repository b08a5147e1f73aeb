"""What a terminal is told while checks run and sources are read."""

from __future__ import annotations

import io

import pytest

from dispatch_cli.answers.findings.command_options import check_line
from dispatch_cli.checks import CHECKS
from dispatch_cli.cli import progress
from dispatch_cli.cli.source_reading import file_line


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_is_told_nothing() -> None:
    stream = io.StringIO()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is None
    assert stream.getvalue() == ""


def test_a_quick_run_says_nothing() -> None:
    stream = _Terminal()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is not None
        tell(CHECKS[0], 0, 1)
    assert stream.getvalue() == ""


def test_a_long_run_says_where_it_is_and_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is not None
        tell(CHECKS[0], 0, 2)
        tell(CHECKS[1], 1, 2)
    assert stream.getvalue() == (
        "\r\x1b[Kchecking 1 of 2: stale-live-table\r\x1b[Kchecking 2 of 2: order-sensitive\r\x1b[K"
    )


def test_names_of_files_are_printed_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, file_line) as tell:
        assert tell is not None
        tell("src/a.cpp", 0, 0)
        tell("src/\x1b[2Ja.cpp", 1, 3)
    assert stream.getvalue() == ("\r\x1b[Kreading 1 files: src/a.cpp\r\x1b[Kreading 2 of 3: src/\\x1b[2Ja.cpp\r\x1b[K")


def test_a_terminal_is_not_told_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, file_line, often=1000) as tell:
        assert tell is not None
        tell("a.cpp", 0, 2)
        tell("b.cpp", 1, 2)
    assert stream.getvalue() == "\r\x1b[Kreading 1 of 2: a.cpp\r\x1b[K"
