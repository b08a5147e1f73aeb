"""Shares of operators, in words."""

from __future__ import annotations

import pytest

from dispatch_cli.answers.coverage.counts import percent
from dispatch_cli.answers.coverage.wording import percent_text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 3624, "0.0"),
        (1, 3624, "<0.1"),
        (1, 2001, "<0.1"),
        (2, 3624, "0.1"),
        (1, 2000, "0.1"),
        (1, 16, "6.2"),
        (3, 16, "18.8"),
        (1, 7, "14.3"),
        (1, 8, "12.5"),
        (1812, 3624, "50.0"),
        (3620, 3624, "99.9"),
        (3623, 3624, ">99.9"),
        (3624, 3624, "100.0"),
    ],
)
def test_what_is_neither_nothing_nor_all_is_never_written_so(part: int, whole: int, text: str) -> None:
    assert percent_text(part, whole) == text


def test_the_number_is_the_share_itself() -> None:
    assert [percent(part, 3624) for part in (0, 1, 3623, 3624)] == [0, 100 / 3624, 362300 / 3624, 100]
    assert percent(0, 0) is None
