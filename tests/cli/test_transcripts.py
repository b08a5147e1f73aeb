"""Whole answers for people are as recorded; see `tests.cli.transcripts`."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len

from tests.cli.support import call
from tests.cli.transcripts import CASES, EXPECTED, every_case, path_of, transcript


@pytest.mark.parametrize(("name", "width"), list(every_case()))
def test_transcript(name: str, width: int | None) -> None:
    assert transcript(name, width) == path_of(name, width).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "width"), [case for case in every_case() if case[1] is not None])
def test_only_what_is_copied_is_wider_than_the_terminal(name: str, width: int) -> None:
    command, *lines = path_of(name, width).read_text(encoding="utf-8").splitlines()
    assert command.startswith("$ ")
    # standard error, which has notes, is no terminal there
    wide = [line for line in lines if cell_len(line) > width and not line.startswith("note: ")]
    assert {*wide} <= {*path_of(name, None).read_text(encoding="utf-8").splitlines()}
    # commands, and the declarations of examples, which are copied
    assert all(re.match(r" +see +dispatch-cli | {8,}dispatch: ", line) for line in wide)


def test_every_recorded_text_is_compared() -> None:
    assert {path.name for path in EXPECTED.glob("*.txt")} == {path_of(*case).name for case in every_case()}


class _Words(HTMLParser):
    """The words of a page's body; each tag parts two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found += data.split()


@pytest.mark.parametrize("name", CASES)
def test_markdown_and_html_say_what_the_text_says(name: str) -> None:
    """Word by word; the borders between runs and lines are those of the format."""
    all_findings = ("--full", "--severity", "info") if CASES[name][0] == "check-invariants" else ()
    text, markdown, html = (
        call(*CASES[name], *all_findings, "--format", format_).out for format_ in ("text", "markdown", "html")
    )
    parser = _Words()
    parser.feed(html)
    of_html, of_markdown = "".join(parser.found), re.sub(r"\\(?=[\W_])|\*\*|<br>|\s", "", markdown)
    assert [word for word in text.split() if word not in of_html] == []
    assert [word for word in text.split() if word not in of_markdown] == []
