"""Shares of operators, as the command and the page write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dispatch_cli.answers.coverage.counts import percent
from dispatch_cli.answers.coverage.wording import percent_text
from tests.page.node import Script, needs_node, script_of
from tests.page.pages import page_of

pytestmark = needs_node


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with script_of(page_of("-k", "CPU")) as found:
        yield found


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
def test_what_is_neither_nothing_nor_all_is_never_written_so(script: Script, part: int, whole: int, text: str) -> None:
    assert percent_text(part, whole) == text
    assert script.ask("percentText", part, whole) == text


def test_shares_of_all_sizes_are_written_alike(script: Script) -> None:
    for whole in (16, 80, 2000, 3624):
        for part in range(0, whole + 1, max(1, whole // 80)):
            assert script.ask("percentText", part, whole) == percent_text(part, whole), (part, whole)


def test_the_number_is_the_share_itself() -> None:
    assert [percent(part, 3624) for part in (0, 1, 3623, 3624)] == [0, 100 / 3624, 362300 / 3624, 100]
    assert percent(0, 0) is None
