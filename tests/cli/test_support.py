"""``dispatch-cli support``"""

from __future__ import annotations

import csv
import io
import json
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dispatch_cli.answers.support.wording import MARKS
from dispatch_cli.engine.support.cell import Verdict
from tests.cli.support import call, in_terminal

OPERATORS = "examples/custom_ops.yaml"
ASKED = (OPERATORS, "--device", "cpu", "--device", "cuda", "--tensor", "sparse")
SVG = "{http://www.w3.org/2000/svg}"


def data(*args: str) -> Any:
    result = call("support", *args, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def cells_of(report: Any) -> dict[str, list[str]]:
    """For each operator the marks of its cells."""
    return {
        row["operator"]: [MARKS[Verdict(cell["verdict"])].text for cell in row["cells"]] for row in report["operators"]
    }


class Cells(HTMLParser):
    """The rows of a matrix in a web page."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._is_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_open = tag == "td" or (tag == "th" and ("scope", "row") in attrs)
        if self._is_open:
            self.rows += [[]] if tag == "th" else []
            self.rows[-1:] = [[*row, ""] for row in self.rows[-1:]]

    def handle_endtag(self, tag: str) -> None:
        self._is_open = self._is_open and tag not in ("td", "th")

    def handle_data(self, text: str) -> None:
        if self._is_open and self.rows:
            self.rows[-1][-1] += text


def in_html(text: str) -> dict[str, list[str]]:
    parser = Cells()
    parser.feed(text)
    return {label: marks for label, *marks in parser.rows}


def in_markdown(text: str) -> dict[str, list[str]]:
    rows = [
        line.replace("*", "").replace("\\", "").strip("| ").split(" | ") for line in text.splitlines() if "|" in line
    ]
    return {label: marks for label, *marks in rows[2:]}


def in_text(text: str, names: list[str]) -> dict[str, list[str]]:
    """Verdicts from all parts, where the width cuts the matrix."""
    verdicts: dict[str, list[str]] = {name: [] for name in names}
    for line in text.partition("Kernels are taken")[0].splitlines():
        label, *marks = line.split() or [""]
        if label in verdicts:
            verdicts[label] += marks
    return verdicts


def in_svg(text: str) -> dict[str, list[str]]:
    """The title of a cell begins with the operator."""
    verdicts: dict[str, list[str]] = {}
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        title, mark = group.find(f"{SVG}title"), group.find(f"{SVG}text")
        assert title is not None and title.text is not None and mark is not None
        if " on " in title.text:
            verdicts.setdefault(title.text.partition(" on ")[0], []).append("".join(mark.itertext()))
    return verdicts


def test_every_format_says_the_same_cells() -> None:
    expected = cells_of(data(*ASKED))
    assert len(expected) == 7 and {len(marks) for marks in expected.values()} == {20}
    marks = {mark for row in expected.values() for mark in row}
    assert marks >= {"K", "C", "F", "-", "X", "L", "·"}
    rows = [*csv.DictReader(io.StringIO(call("support", *ASKED, "--format", "csv").out))]
    in_csv: dict[str, list[str]] = {}
    for row in rows:
        in_csv.setdefault(row["operator"], []).append(MARKS[Verdict(row["verdict"])].text)
    assert in_csv == expected
    assert in_html(call("support", *ASKED, "--format", "html").out) == expected
    assert in_markdown(call("support", *ASKED, "--format", "markdown").out) == expected
    assert in_svg(call("support", *ASKED, "--format", "svg").out) == expected
    for width in (60, 120):
        out = in_terminal(width, "support", *ASKED, NO_COLOR="1").out
        assert in_text(out, [*expected]) == expected
        assert max(map(len, out.splitlines())) <= width
    assert in_text(call("support", *ASKED).out, [*expected]) == expected


def test_each_cell_that_does_not_work_is_under_a_reason() -> None:
    report = data(*ASKED)
    failing = {
        (row["operator"], at)
        for row in report["operators"]
        for at, cell in enumerate(row["cells"])
        if Verdict(cell["verdict"]).fails
    }
    assert sum(reason["cells"] for reason in report["reasons"]) == len(failing) > 40
    assert len(report["reasons"]) < 10
    for reason in report["reasons"]:
        assert reason["text"] and reason["operators"] and reason["columns"]
    assert report["chosen"] == report["working"] + report["not_known"] + len({name for name, _ in failing})


def test_each_command_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(OPERATORS).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my ops.yaml"
    file.write_text(source, encoding="utf-8")
    reasons = data("my ops.yaml", "--device", "cpu", "--device", "mps")["reasons"]
    assert len(reasons) > 5
    for reason in reasons:
        program, *arguments = shlex.split(reason["command"])
        result = call(*arguments, "--full")
        assert (program, result.code in (0, 1)) == ("dispatch-cli", True), result.err
        assert reason["error"] is None or " ".join(reason["error"].split()) in " ".join(result.out.split())


def test_contexts_and_tensors_that_are_named_are_columns() -> None:
    report = data(
        OPERATORS, "--device", "cuda", "--context", "train", "--context", "autocast cpu", "--tensor", "sparse"
    )
    assert report["columns"] == [
        {"backend": "CUDA", "device": "cuda", "context": "train", "tensor": None, "contexts": []},
        {"backend": "CUDA", "device": "cuda", "context": "custom", "tensor": "sparse", "contexts": []},
        {"backend": "CUDA", "device": "cuda", "context": "custom", "tensor": None, "contexts": ["autocast cpu"]},
    ]
    only = call("support", OPERATORS, "--device", "cpu", "--context", "vmap").out
    assert "vmap\n" in only and "train" not in only and "Working" not in only


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "Nothing to load"),
        ((OPERATORS, "--device", "cudaa"), "did you mean cuda?"),
        ((OPERATORS, "--context", "vmapp"), "--context 'vmapp'"),
        ((OPERATORS, "--context", "custom"), "--context 'custom'"),
        ((OPERATORS, "--tensor", "sparce"), "has no device 'sparce'"),
        ((OPERATORS, "--op", "pylib::nothing"), "no operator matches"),
        (("nowhere.yaml",), "nowhere.yaml"),
    ],
)
def test_bad_input(args: tuple[str, ...], message: str) -> None:
    for format_ in ("text", "svg"):
        result = call("support", *args, "--format", format_)
        assert (result.code, result.out) == (2, "")
        assert message in result.err


def test_a_picture_is_only_of_what_is_one() -> None:
    assert "draws the grid" in call("table", OPERATORS, "--view", "rows", "--format", "svg").err
    refused = call("explain", "pylib::sin", "CPU", OPERATORS, "--format", "svg")
    assert refused.code == 2 and "'svg' is not one of" in refused.err


def test_what_is_recorded_holds(tmp_path: Path) -> None:
    file = tmp_path / "promises.yaml"
    result = call("support", OPERATORS, "--device", "cpu", "--record", "-o", str(file))
    assert result.code == 0
    assert "support:\n" in file.read_text(encoding="utf-8")
    options = ("--select", "broken-promise", "--config", "none", "--format", "json")
    checked = json.loads(call("check-invariants", OPERATORS, "--guards", str(file), *options).out)
    assert checked["findings"] == []
    for options in (("--format", "json"), ("--context", "autocast cpu")):
        refused = call("support", OPERATORS, "--record", *options)
        assert (refused.code, "takes no --format" in refused.err) == (2, True)
