"""The command, over recordings of a real program and such that are made by hand."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call
from tests.trace.support import OF_A_BACKEND, PLAIN, Writer, every
from tests.trace.test_recording import REAL

KERNELS = REAL.with_name("kernels.trace")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "every.trace"
    path.write_text(every(), encoding="utf-8")
    return str(path)


def answer(*arguments: str) -> Any:
    result = call("trace", *arguments, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def rows_of(found: Any) -> list[Any]:
    return [row for thread in found["threads"] for row in thread["rows"]]


def findings_of(made: Writer, folder: Path, *options: str) -> list[tuple[str, str, str, int]]:
    (folder / "f.trace").write_text(made.text(), encoding="utf-8")
    findings = answer(str(folder / "f.trace"), *options)["findings"]
    return [(finding["kind"], finding["operator"], finding["key"], finding["calls"]) for finding in findings]


def test_a_real_program_is_shown_whole() -> None:
    report = answer(str(REAL))
    recorded = [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]
    operators = {line[1]: line[2] for line in recorded[1:] if line[0] == "o"}
    signatures = {line[1]: operators[line[2]["operator"]] for line in recorded[1:] if line[0] == "s"}
    called = Counter(signatures[line[1]] for line in recorded[1:] if line[0] == "c")
    shown: Counter[str] = Counter()
    for row in rows_of(report):
        shown[row["operator"]] += row["times"]
    assert shown == called
    assert {operator["operator"]: operator["calls"] for operator in report["operators"]} == called
    sheet: Counter[str] = Counter()
    for row in csv.DictReader(call("trace", str(REAL), "--format", "csv").out.splitlines()):
        sheet[row["operator"]] += int(row["times"])
    assert sheet == called
    assert report["counts"]["calls"] == 204
    assert report["counts"]["different"] == 0


FILTERS: dict[str, tuple[list[str], set[str]]] = {
    "an operator": (["--op", "aten::relu"], {"aten::relu"}),
    "what raised": (["--only", "raised"], {"aten::masked_select"}),
    "Python": (["--only", "python"], {"aten::cos"}),
    "decompositions": (["--only", "decomposes", "--op", "aten::[lr]*"], {"aten::linear"}),
}


@pytest.mark.parametrize("what", FILTERS)
def test_filters(what: str, file: str) -> None:
    options, expected = FILTERS[what]
    rows = rows_of(answer(file, *options))
    assert {row["operator"] for row in rows} == expected


SECOND = '["k",0,"CPU",65537,false]\n'
"""The second kernel of a call of sin, in a live PyTorch."""
INSTEAD: dict[str, tuple[str, str]] = {
    "nothing": ("", "1 call ran no further kernel where CPU is predicted."),
    "another kernel": (SECOND.replace("CPU", "Meta"), "1 call ran Meta where CPU is predicted."),
    "another key set": (
        SECOND.replace("65537", "65538"),
        "1 call ran CPU, as predicted, but with another key set.",
    ),
    "one more": (
        SECOND + SECOND,
        "1 call ran CPU where no further kernel is predicted.",
    ),
}


@pytest.mark.parametrize("what", INSTEAD)
def test_a_difference_says_what_ran_and_what_is_predicted(what: str, tmp_path: Path) -> None:
    lines, message = INSTEAD[what]
    text = KERNELS.read_text(encoding="utf-8")
    others, name, of_sin = text.partition('"aten::sin"')
    file = tmp_path / "f.trace"
    file.write_text(others + name + of_sin.replace(SECOND, lines, 1), encoding="utf-8")
    findings = [row for row in answer(str(file))["findings"] if row["kind"] == "different"]
    assert [(finding["operator"], finding["text"]) for finding in findings] == [("aten::sin", message)]


def test_kernels_that_logging_kernels_wrote_down_are_followed(tmp_path: Path) -> None:
    """Kernels of sin with a gradient, mm under autocast, and cos under vmap, in a live PyTorch 2.13.

    What a kernel calls again has a row of its own.
    """
    report = answer(str(KERNELS))
    assert (report["seen"], report["counts"]["different"]) == ("all-kernels", 0)
    own = [row["path"]["kernels"] for row in rows_of(report) for _ in range(row["times"])]
    lines = [json.loads(line) for line in KERNELS.read_text(encoding="utf-8").splitlines()[1:]]
    ran = Counter(line[2] for line in lines if line[0] == "k")
    assert Counter(kernel["key"] for kernels in own for kernel in kernels) == ran
    assert all(kernel["observed"] for kernels in own for kernel in kernels)
    for number, line in enumerate(lines):
        if line[0] == "k":
            text = KERNELS.read_text(encoding="utf-8").splitlines(keepends=True)
            text[number + 1] = f"{json.dumps([*line[:3], line[3] ^ 1, *line[4:]])}\n"
            (tmp_path / "f.trace").write_text("".join(text), encoding="utf-8")
            assert answer(str(tmp_path / "f.trace"))["counts"]["different"] == 1


# Facts in a row about its calls, whatever is shown beside it.


def saved(made: Writer, folder: Path) -> str:
    file = folder / "r.trace"
    file.write_text(made.text(), encoding="utf-8")
    return str(file)


def end(made: Writer) -> None:
    """As the recorder writes it when a program has ended."""
    made.add("end", {"dropped": 0, "seconds": 9.5})


def test_calls_without_an_end_are_unfinished(tmp_path: Path) -> None:
    writer = Writer()
    writer.call("aten::linalg_inv", ends=False)
    writer.call("aten::linalg_inv_ex", 1, raised=True)
    end(writer)
    report = answer(saved(writer, tmp_path))
    assert [(row["operator"], row["raised"], row["unfinished"]) for row in rows_of(report)] == [
        ("aten::linalg_inv", 0, 1),
        ("aten::linalg_inv_ex", 1, 0),
    ]
    assert (report["counts"]["raised"], report["counts"]["unfinished"]) == (1, 1)
    text = call("trace", saved(writer, tmp_path)).out
    assert re.search(r"aten::linalg_inv .* unfinished\n", text)
    assert re.search(r"aten::linalg_inv_ex .* raised\n", text)


def test_what_is_missing_of_a_recording_is_said(tmp_path: Path) -> None:
    bound = {"reason": "limit", "text": "the recording has reached its bound of 1 MB"}
    writer = Writer()
    writer.call("aten::sin")
    after = "what came after the last of these calls"
    assert f"{after}: the program was killed, or is still running\n" in call("trace", saved(writer, tmp_path)).out
    writer.add("x", bound)
    writer.add("x", bound)
    writer.add("x", {"reason": "fork", "text": "forked child processes are not recorded"})
    end(writer)
    out = call("trace", saved(writer, tmp_path)).out
    assert "calls of child processes, such as workers\n" in out
    assert out.count(after) == out.count("the recording has reached its bound of 1 MB\n") == 1


def test_a_file_that_is_cut_is_said_to_be(tmp_path: Path) -> None:
    writer = Writer()
    writer.call("aten::sin")
    end(writer)
    whole = writer.text()
    for text in (f'{whole}["state",{{"operators"', whole[: whole.index('["end"') + 20]):
        (tmp_path / "cut.trace").write_text(text, encoding="utf-8")
        assert "the file is cut: its last line is not whole\n" in call("trace", str(tmp_path / "cut.trace")).out
    (tmp_path / "cut.trace").write_text(whole[:60], encoding="utf-8")
    result = call("trace", str(tmp_path / "cut.trace"))
    assert (result.code, result.out) == (2, "")
    assert "not a recording of `dispatch-cli trace`: it is not valid JSON" in result.err


def test_a_row_names_the_forward_calls_that_its_calls_have(tmp_path: Path) -> None:
    writer = Writer()
    for number in range(3):
        writer.call("aten::mul.Tensor", tensors=(PLAIN, PLAIN), grads=(True, True), nodes=[number])
    for number in (2, 1, 0):
        for _ in range(2):
            writer.call("aten::mul.Tensor", line=9, tensors=(PLAIN, PLAIN), sequence=number, forward="MainThread")
    file = saved(writer, tmp_path)
    assert [(row["times"], row["forward"], row["forwards"]) for row in rows_of(answer(file))] == [
        (3, None, 0),
        (6, 2, 3),
    ]
    assert "backward of 3 calls, first 2, train.py:1\n" in call("trace", file).out


def test_a_backend_has_the_name_that_the_program_gave_it(tmp_path: Path) -> None:
    """The recording has it in its devices alone."""
    writer = Writer()
    writer.call("aten::empty.memory_format", tensors=(), device="npu")
    writer.call("aten::sin", tensors=(OF_A_BACKEND,))
    file = saved(writer, tmp_path)
    assert [row["path"]["problem"] for row in rows_of(answer(file))] == [None, None]
    assert call("trace", file, "--explain", "0").code == 0
    writer.call("aten::empty.memory_format", tensors=(), device="other")
    assert rows_of(answer(saved(writer, tmp_path)))[0]["path"]["problem"] is not None


def shown_calls(text: str) -> list[int]:
    """The numbers of the calls that have a line."""
    return [int(number) for number in re.findall(r"^ *(\d+) +(?:level \d+: )?\w+::", text, re.M)]


@pytest.mark.parametrize("limit", [1, 30])
def test_the_lines_that_took_longest_are_shown(limit: int) -> None:
    """With those that they are inside of, which took no less time. The other formats have all."""
    rows = rows_of(answer(str(REAL)))
    heaviest = sorted(rows, key=lambda row: -row["microseconds"])[:limit]
    text = call("trace", str(REAL), "--limit", str(limit)).out
    assert shown_calls(text) == sorted(row["number"] for row in heaviest)
    assert f"\n{limit} of {len(rows_of(answer(str(REAL))))} lines, " in text
    assert answer(str(REAL), "--limit", str(limit)) == answer(str(REAL))
    csv = call("trace", str(REAL), "--format", "csv").out
    assert call("trace", str(REAL), "--format", "csv", "--limit", str(limit)).out == csv
