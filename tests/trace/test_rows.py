"""Facts in a row of the view about its calls, whatever is shown beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call
from tests.trace.support import OF_A_BACKEND, PLAIN, Writer
from tests.trace.test_view import REAL, answer, rows_of

CUDA = ("CUDA", "AutogradCUDA", "ADInplaceOrView", "AutocastCUDA")


def saved(made: Writer, folder: Path) -> str:
    file = folder / "r.trace"
    file.write_text(made.text(), encoding="utf-8")
    return str(file)


def end(made: Writer) -> None:
    """As the recorder writes it when a program has ended."""
    made.add("end", {"calls": 0, "dropped": 0, "seconds": 9.5})


def test_calls_that_were_open_at_the_end_raised(tmp_path: Path) -> None:
    """The end of the main thread is an exception; of other threads, and of a recording that stops, nothing is known."""
    writer = Writer()
    writer.call("aten::sin", thread="other", ends=False)
    writer.call("aten::linalg_inv", ends=False)
    writer.call("aten::linalg_inv_ex", 1, ends=False)
    end(writer)
    report = answer(saved(writer, tmp_path))
    assert [(row["operator"], row["raised"], row["unfinished"]) for row in rows_of(report)] == [
        ("aten::sin", 0, 1),
        ("aten::linalg_inv", 1, 0),
        ("aten::linalg_inv_ex", 1, 0),
    ]
    assert (report["counts"]["raised"], report["counts"]["unfinished"]) == (2, 1)
    text = call("trace", saved(writer, tmp_path)).out
    assert re.search(r"aten::sin .* unfinished\n", text)
    assert re.search(r"aten::linalg_inv .* raised\n", text)
    writer.lines.insert(-1, ["x", {"reason": "limit", "text": "the recording has reached its bound of 1 MB"}])
    counts = answer(saved(writer, tmp_path))["counts"]
    assert (counts["raised"], counts["unfinished"]) == (0, 3)


def test_what_is_missing_of_a_recording_is_said(tmp_path: Path) -> None:
    writer = Writer()
    writer.call("aten::sin")
    out = call("trace", saved(writer, tmp_path)).out
    assert "what came after the last of these calls: the program was killed, or is still running\n" in out
    cut = Writer()
    cut.call("aten::sin")
    for _ in range(2):
        cut.add("x", {"reason": "limit", "text": "the recording has reached its bound of 1 MB"})
    out = call("trace", saved(cut, tmp_path)).out
    assert out.count("what came after the last of these calls") == 1
    assert out.count("the recording has reached its bound of 1 MB\n") == 1
    writer.add("x", {"reason": "fork", "text": "forked child processes are not recorded"})
    writer.add("x", {"reason": "limit", "text": "the recording has reached its bound of 1 MB"})
    end(writer)
    out = call("trace", saved(writer, tmp_path)).out
    assert "calls of child processes, such as workers\n" in out
    assert "the recording has reached its bound of 1 MB\n" in out
    assert "what came after the last of these calls\n" in out


def test_a_program_that_only_starts_others(tmp_path: Path) -> None:
    """As torchrun does."""
    writer = Writer()
    end(writer)
    out = call("trace", saved(writer, tmp_path)).out
    assert "No call was recorded: the program called no operator. Processes that it started are not recorded.\n" in out


def test_a_file_that_is_cut_is_said_to_be(tmp_path: Path) -> None:
    writer = Writer()
    writer.call("aten::sin")
    end(writer)
    whole = writer.text()
    for text, expected in (
        (f'{whole}["state",{{"operators"', "the file is cut in what the program's PyTorch has registered\n"),
        (whole[: whole.index('["end"') + 20], "the file is cut: its last line is not whole\n"),
    ):
        (tmp_path / "cut.trace").write_text(text, encoding="utf-8")
        assert expected in call("trace", str(tmp_path / "cut.trace")).out
    head = whole[: whole.index("\n")]
    (tmp_path / "cut.trace").write_text(f"{head}    ", encoding="utf-8")
    assert "the file is cut: its last line is not whole\n" in call("trace", str(tmp_path / "cut.trace")).out
    (tmp_path / "cut.trace").write_text(whole[:60], encoding="utf-8")
    for words in (("trace", str(tmp_path / "cut.trace")), ("page", "--trace", str(tmp_path / "cut.trace"))):
        result = call(*words)
        assert (result.code, result.out) == (2, "")
        assert "is cut: it ends in its first line" in result.err
    (tmp_path / "empty.trace").write_bytes(b"")
    result = call("trace", str(tmp_path / "empty.trace"))
    assert (result.code, result.out) == (2, "")
    assert "is empty: it is no recording, and no script" in result.err


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


@pytest.mark.parametrize(
    ("operator", "devices", "more", "is_change"),
    [
        ("aten::mul.Tensor", (CUDA, PLAIN), {}, False),  # a number
        ("aten::add_.Tensor", (CUDA, PLAIN), {}, False),
        ("aten::mul.out", (CUDA, PLAIN, CUDA), {}, False),
        ("aten::copy_", (CUDA, PLAIN), {}, True),
        ("aten::copy_", (CUDA, CUDA), {}, False),
        ("aten::_to_copy", (PLAIN,), {"device": "cuda:0"}, True),
        ("aten::is_same_size", (PLAIN, CUDA), {}, False),  # it gives true or false
    ],
)
def test_which_calls_change_the_device(
    operator: str, devices: tuple[tuple[str, ...], ...], more: dict[str, Any], is_change: bool, tmp_path: Path
) -> None:
    writer = Writer()
    names = ["cpu" if device is PLAIN else "cuda:0" for device in devices]
    writer.call(operator, tensors=devices, devices=names, **more)
    assert answer(saved(writer, tmp_path), "--where", "cpu->cuda")["counts"]["shown"] == is_change


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


@pytest.mark.parametrize("limit", [1, 7, 30, 99])
def test_the_lines_that_took_longest_are_shown(limit: int) -> None:
    """With those that they are inside of, which took no less time. The other formats have all."""
    rows = [row for row in rows_of(answer(str(REAL))) if row["operator"] is not None]
    heaviest = sorted(rows, key=lambda row: -row["microseconds"])[:limit]
    text = call("trace", str(REAL), "--limit", str(limit)).out
    assert shown_calls(text) == sorted(row["number"] for row in heaviest)
    assert f"\n{limit} of {len(rows_of(answer(str(REAL))))} lines, " in text
    assert answer(str(REAL), "--limit", str(limit)) == answer(str(REAL))
    csv = call("trace", str(REAL), "--format", "csv").out
    assert call("trace", str(REAL), "--format", "csv", "--limit", str(limit)).out == csv


def test_thirty_lines_are_shown_by_default() -> None:
    short = call("trace", str(REAL)).out
    assert len(shown_calls(short)) == 30
    assert call("trace", str(REAL), "--limit", "30").out == short
    every = call("trace", str(REAL), "--full").out
    assert len(shown_calls(every)) == len([row for row in rows_of(answer(str(REAL))) if row["operator"]])
    assert "lines, by the time of their calls" not in every
    assert call("trace", str(REAL), "--limit", "0").out == every
    for format_ in ("markdown", "html"):
        assert len(call("trace", str(REAL), "--format", format_).out.splitlines()) < len(every.splitlines())


def test_what_a_heavy_call_is_inside_of_is_shown(tmp_path: Path) -> None:
    """Also a call whose end is not recorded, and a group; and of each thread what is heavy in it."""
    writer = Writer()
    for _ in range(2):
        writer.call("aten::cos", thread="light")
    writer.call("aten::linear", ends=False)
    for _ in range(2):
        for name in ("aten::sin", "aten::tan"):
            writer.call(name, 1, ends=False)
            writer.time += 500
            writer.end()
    writer.call("aten::mul.Tensor", ends=False, thread="other")
    writer.time += 100
    writer.end("other")
    text = call("trace", saved(writer, tmp_path), "--limit", "4").out
    assert shown_calls(text) == [2, 3, 4, 7]
    assert re.search(r"aten::linear .*unfinished\n +2 times:\n +train.py:1 in step\n +3 +aten::sin", text)
    assert "Thread other: 1 call\n" in text
    assert "light" not in text
    text = call("trace", saved(writer, tmp_path), "--limit", "1").out
    assert shown_calls(text) == [2]
