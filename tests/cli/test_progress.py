"""What a terminal is told while checks run."""

from __future__ import annotations

import io

import pytest

from dispatch_cli.checks import CHECKS
from dispatch_cli.cli import check_options


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_is_told_nothing() -> None:
    stream = io.StringIO()
    with check_options.progress_on(stream) as progress:
        assert progress is None
    assert stream.getvalue() == ""


def test_a_quick_run_says_nothing() -> None:
    stream = _Terminal()
    with check_options.progress_on(stream) as progress:
        assert progress is not None
        progress(CHECKS[0], 0, 1)
    assert stream.getvalue() == ""


def test_a_long_run_says_where_it_is_and_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_options, "PATIENCE", -1)
    stream = _Terminal()
    with check_options.progress_on(stream) as progress:
        assert progress is not None
        progress(CHECKS[0], 0, 2)
        progress(CHECKS[3], 1, 2)
    assert stream.getvalue() == (
        "\r\x1b[Kchecking 1 of 2: schema-name\r\x1b[Kchecking 2 of 2: stale-live-table\r\x1b[K"
    )
