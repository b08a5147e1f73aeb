"""Programs with PyTorch that raise, fork, are interrupted or killed, and recordings that cannot go on."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from dispatch_cli.trace.recording import Recording
from dispatch_cli.trace.recording import read as recording_of
from tests.capture.support import torch_python
from tests.trace.recorded import LIVE_PROGRAMS, read, recorder_variables
from tests.trace.recorded import run_source as recorded

pytestmark = pytest.mark.live


def captured(folder: Path, source: str) -> tuple[subprocess.CompletedProcess[str], Recording]:
    """A program run with the recorder, which captures the registry at its end."""
    program, save = folder / "program.py", folder / "recording"
    program.write_text(source, encoding="utf-8")
    environment = {**os.environ, **recorder_variables(save, str(program))}
    words = [torch_python(), str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=environment)
    return done, recording_of(str(save))


def test_an_exception_of_python_inside_a_call_reaches_the_program(tmp_path: Path) -> None:
    """It is on its way as an exception of C++ while the calls end."""
    source = LIVE_PROGRAMS["an exception of python inside a call reaches the program"]["program.py"]
    done = recorded(tmp_path, source)
    assert (done.code, done.out, done.err) == (0, "this one None\n" * 3 + "RuntimeError\n", "")
    assert [call["depth"] for call in done.calls("aten::cos") + done.calls("aten::exp")] == [0, 0]
    assert [call["modes"] for call in done.calls("aten::sin")] == [["Mode"]] * 3
    open_calls: list[str] = []
    raised = []
    for line in done.lines[1:]:
        if line[0] == "c":
            open_calls.append(done.numbered["o"][done.numbered["s"][line[1]]["operator"]])
        elif line[0] == "e":
            name = open_calls.pop()
            raised += [name] if line[3] is True else []
    assert raised == ["aten::sin"] * 3 + ["aten::add.Tensor"]
    assert open_calls == []


def test_a_fork_writes_nothing_into_its_parents_recording(tmp_path: Path) -> None:
    source = LIVE_PROGRAMS["a fork writes nothing into its parents recording"]["program.py"]
    done = recorded(tmp_path, source)
    assert (done.code, done.out, done.err) == (0, "4\n", "")
    assert [len(done.calls(f"aten::{name}")) for name in ("sin", "cos", "exp")] == [1, 0, 1]
    assert [line[0]["reason"] for line in done.tagged("x")] == ["fork"]


def test_the_bound(tmp_path: Path) -> None:
    source = "import torch\na = torch.ones(2)\nfor _ in range(30000): a.add_(1)\nprint(a[0].item())"
    done = recorded(tmp_path, source, options={"megabytes": 1})
    assert (done.code, done.out, done.err) == (0, "30001.0\n", "")
    assert (tmp_path / "recording").stat().st_size <= 1 << 20
    assert [line[0]["reason"] for line in done.tagged("x")] == ["limit"]
    assert 5000 < len(done.tagged("c")) < 30000


WAITING = """
import atexit, os, signal, torch
@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
print(twice(torch.ones(1)))
signal.signal(signal.SIGCHLD, lambda *_: print("a child has ended", flush=True))
torch.sin(torch.ones(2))
def children():
    try:
        os.wait()
    except ChildProcessError:
        print("no children")
atexit.register(children)
"""
"""A program that waits for its children at its end."""


def test_the_state_of_the_registry_is_captured_at_the_end(tmp_path: Path) -> None:
    """With what the program has registered; nothing of the capture is seen: it is no child of the program."""
    done, recording = captured(tmp_path, WAITING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensor([2.])\nno children\n", "")
    assert [line[0] for line in read(tmp_path / "recording")[-2:]] == ["end", "state"]
    assert recording.end is not None
    assert recording.state is not None
    assert {"mine::twice", "aten::add.Tensor"} <= {operator["name"] for operator in recording.state["operators"]}


RAISING = """
import random, signal, torch
class Mine(Exception):
    pass
raised = []
def handler(*_):
    raised.append(Mine(len(raised)))
    raise raised[-1]
signal.signal(signal.SIGALRM, handler)
a = torch.ones(2)
random.seed({seed})
caught = []
for _ in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.004))
        for _ in range(100_000):
            torch.sin(a).add(1)
    except Mine as error:
        caught.append(error)
print(len(caught), all(one is other for one, other in zip(caught, raised)))
"""


def test_what_a_signals_handler_raises_reaches_the_program_once(tmp_path: Path) -> None:
    """Most of them come while the recorder is at work."""
    done = recorded(tmp_path, RAISING.format(seed=time.time_ns() % 1000))
    assert (done.code, done.out, done.err) == (0, "60 True\n", "")
    recording = recording_of(str(tmp_path / "recording"))  # depths and ends are as they must be
    assert recording.stopped == []
    assert len(recording.calls) > 1000


def test_python_code_that_calls_operators_inside_of_the_recorder(tmp_path: Path) -> None:
    """A signal's handler, a profiler, and a finalizer that the garbage collector runs."""
    source = LIVE_PROGRAMS["python code that calls operators inside of the recorder"]["program.py"]
    done = recorded(tmp_path, source, fresh=True)
    assert (done.code, done.out, done.err) == (0, "True\n", "")
    recording = recording_of(str(tmp_path / "recording"))
    assert [stop.reason for stop in recording.stopped] == ["fork"]
    assert recording.end is not None
    assert recording.end["dropped"] == 0
    assert len(done.calls("aten::sin")) > 3000


def test_of_a_list_each_kind_of_tensor_is_told_once(tmp_path: Path) -> None:
    source = """
import torch
for size in (1, 50_000):
    torch.stack([torch.zeros(1)] * size + [torch.zeros(1, requires_grad=True)])
"""
    done = recorded(tmp_path, source)
    assert [call["requires_grad"] for call in done.calls("aten::stack")] == [[False, True]] * 2
    assert recording_of(str(tmp_path / "recording")).stopped == []


REPLACING = """
import builtins, io, json, os, signal, sys, time, torch
from unittest import mock
replaced = {replaced}
for name in replaced:
    mock.patch(name, {by}).start()
print(torch.sin(torch.zeros(1)))
sys.exit(3)
"""
REPLACED = (
    *("builtins.open", "io.open", "os.fork", "os.open", "os.close", "os.fstat", "os.getpid", "os.path.isfile"),
    *("os.waitpid", "os._exit", "os.ftruncate", "json.dumps", "time.perf_counter_ns", "time.sleep"),
    *("signal.signal", "signal.getsignal"),
)


@pytest.mark.parametrize("by", ["side_effect=AssertionError('not in this test')", "new_callable=mock.MagicMock"])
def test_functions_that_a_program_leaves_replaced(tmp_path: Path, by: str) -> None:
    """As `mock.patch` does until it is stopped. The program ends as it does alone, and its registry is captured."""
    done, recording = captured(tmp_path, REPLACING.format(replaced=REPLACED, by=by))
    assert (done.returncode, done.stdout, done.stderr) == (3, "tensor([0.])\n", "")
    assert recording.stopped == []
    assert recording.end is not None
    assert recording.state is not None
    assert "aten::sin" in recording.operators
