"""Reading recordings: what is whole, what is cut, and what is refused, with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.model.problem import InputError
from dispatch_cli.trace.recording import NONE, Recording, is_recording, read
from tests.cli.support import call
from tests.trace.support import Writer, every, signature

REAL = Path(__file__).parent / "recordings" / "train.trace"
"""A training step that was recorded on PyTorch 2.13."""


def read_text(folder: Path, text: str | bytes) -> Recording:
    file = folder / "r.trace"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(str(file))


def problem_of(folder: Path, text: str | bytes) -> Any:
    with pytest.raises(InputError) as refused:
        read_text(folder, text)
    (problem,) = refused.value.problems
    return problem


def test_calls_end_and_nest(tmp_path: Path) -> None:
    recording = read_text(tmp_path, every())
    calls = recording.calls
    assert [*calls.parent[:5]] == [NONE, 0, 0, 2, NONE]
    assert {recording.operator_of(call) for call, raised in enumerate(calls.raised) if raised} == {
        "aten::masked_select"
    }
    assert not calls.raised[0]
    assert calls.microseconds(1) == 5
    assert calls.microseconds(len(calls) - 1) is None
    assert recording.stopped[0].reason == "limit"
    assert recording.kernels.keys() == {next(n for n in range(len(calls)) if recording.operator_of(n) == "aten::sum")}


def test_each_cut_is_read_up_to_there(tmp_path: Path) -> None:
    text = every().encode()
    counts = []
    head = text.index(b"\n") + 1
    for end in range(head, len(text), 97):
        recording = read_text(tmp_path, text[:end])
        counts.append(len(recording.calls))
        is_cut = any(missing.reason == "cut" for missing in recording.stopped)
        assert is_cut == (not text[:end].endswith(b"\n") and not _is_json(text[:end].rpartition(b"\n")[2]))
    assert counts == sorted(counts)
    assert counts[-1] > 10


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ({"a": 1}, "must be a list"),
    "no tag": ([], "must be a list"),
    "a number that is left out": (["o", 7, "aten::sin"], "must have the number 1"),
    "an operator that is no text": (["o", 1, 5], "must be a string"),
    "a signature that is not there": (["c", 9, 0, 0, -1, 5, -1, -1], "a signature must be the number of an entry"),
    "a thread that is not there": (["c", 0, 9, 0, -1, 5, -1, -1], "a thread must be the number of an entry"),
    "a place that is not there": (["c", 0, 0, 0, 9, 5, -1, -1], "a place must be the number of an entry"),
    "true as a number": (["c", True, 0, 0, -1, 5, -1, -1], "a signature must be the number of an entry"),
    "too deep": (["c", 0, 0, 5, -1, 5, -1, -1], "at depth 5, where 0 are open"),
    "a time of long ago": (["c", 0, 0, 0, -1, -5, -1, -1], "a time must be a number from 0"),
    "too short": (["c", 0], "or has too little"),
    "an end of nothing": (["e", 0, 5, False], "where none is open"),
    "a signature of nothing": (["s", 1, {}], "an operator must be the number of an entry"),
    "a kernel without a key set": (["k", 0, "CPU", "CPU", False], "[3] must be a number"),
    "a state that is none": (["state", 5], "[1] must be an object"),
    "an end that is none": (["end", {"dropped": "many"}], "dropped must be a number"),
    "a time that never ends": (["end", {"seconds": float("inf")}], "seconds must be a number or null"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_line_is_named(what: str, tmp_path: Path) -> None:
    line, message = WRONG[what]
    writer = Writer()
    writer.call("aten::sin")
    writer.lines.append(line)
    writer.call("aten::sin")
    problem = problem_of(tmp_path, writer.text())
    assert message in problem.message
    assert (problem.span.line, problem.code) == (writer.lines.index(line) + 1, "bad-recording")
    assert problem.hint is not None


@pytest.mark.parametrize("wrong", [{"tensors": 5}, {"keys": [1]}, {"layers": [["vmap"]]}])
def test_a_signature_that_is_none_says_nothing(wrong: Any, tmp_path: Path) -> None:
    writer = Writer()
    writer.call("aten::sin")
    writer.add("s", 1, {**signature(), **wrong})
    writer.add("c", 1, 0, 0, -1, 50, -1, -1)
    writer.add("e", 0, 55, False)
    (tmp_path / "r.trace").write_text(writer.text(), encoding="utf-8")
    report = json.loads(call("trace", str(tmp_path / "r.trace"), "--format", "json").out)
    problems = [row["path"]["problem"] for row in report["threads"][0]["rows"]]
    assert problems == [None, "its line in the recording is not one that the recorder writes"]


BROKEN = {
    "nothing": b"",
    "something else": b"dispatch: 1\n",
    "another format": b'{"dispatch_cli_trace":9,"torch":"2.13.0"}\n',
    "no torch": b'{"dispatch_cli_trace":2}\n',
    "no UTF-8": b'{"dispatch_cli_trace":2,"torch":"\xff"}\n["t",0,"a"]\n',
    "brackets": b'{"dispatch_cli_trace":2,"torch":"2.13.0"}\n' + b"[" * 100_000 + b"\n[]\n",
    "digits": b'{"dispatch_cli_trace":2,"torch":"2.13.0"}\n["o",' + b"9" * 100_000 + b"]\n[]\n",
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_no_recording_is_refused(what: str, tmp_path: Path) -> None:
    assert problem_of(tmp_path, BROKEN[what]).span.line in (1, 2)


def test_a_recording_of_an_earlier_format_is_refused_for_that(tmp_path: Path) -> None:
    """Whatever its lines are: in the first format, slots that changed had other lines."""
    text = '{"dispatch_cli_trace":1,"torch":"2.13.0"}\n["o",0,"my::op"]\n["r",0,{"at_end":false,"slots":[]}]\n'
    problem = problem_of(tmp_path, text)
    assert problem.message.endswith("its format is '1', and this dispatch-cli reads format 2")
    assert problem.span.line == 1


def test_a_recording_is_known_by_its_first_line(tmp_path: Path) -> None:
    assert is_recording(str(REAL))
    for name, content in BROKEN.items():
        (tmp_path / "x").write_bytes(content)
        assert is_recording(str(tmp_path / "x")) == content.startswith(b'{"dispatch_cli_trace":'), name
    assert not is_recording(str(tmp_path / "missing"))
    assert not is_recording(str(tmp_path))
