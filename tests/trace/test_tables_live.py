"""Kernels that are registered and taken away while a program runs, in orders that leave slots stale.

Each kernel notes that it ran, with the line on which it is registered: what the trace says of a call must be that line.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dispatch_cli.answers.trace.view import registered_at
from dispatch_cli.trace.explained import Explainer
from dispatch_cli.trace.recording import NONE, read
from dispatch_cli.trace.state import state_of
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.trace.recorded import LIVE_PROGRAMS, recorder_variables

pytestmark = pytest.mark.live

PROGRAM = LIVE_PROGRAMS["tables that change"]["program.py"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Any]]:
    """The recording, and what the program says of itself."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    added = recorder_variables(folder / "r.trace", "program.py")
    done = in_pytorch.run([torch_python(), "program.py"], check=False, folder=folder, variables=added)
    if "unexpected keyword argument 'allow_override'" in done.stderr:
        pytest.skip("in this PyTorch, no library overrides the kernel of another one")
    plain = in_pytorch.run([torch_python(), "program.py"], folder=folder)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    return str(folder / "r.trace"), json.loads(done.stdout)


def test_the_kernels_are_those_that_ran(recorded: tuple[str, list[Any]]) -> None:
    file, (printed, kept) = recorded
    assert not any(kept[:4])
    recording = read(file)
    assert recording.stopped == []
    explainer = Explainer(recording, state_of(recording).state)
    results = []
    for number in range(len(recording.calls)):
        name = recording.operator_of(number)
        if recording.calls.parent[number] == NONE and name in ("aten::sin", "own::op"):
            explained = explainer.of_call(number)
            places = [registered_at(hop.live.kernel) or "" for hop in explained.hops]
            lines = [int(place.partition("program.py:")[2]) for place in places if "program.py:" in place]
            results.append([name, lines[0] if lines else None])
    assert len(printed) == 16
    assert results == printed


def test_the_stale_slot_is_found(recorded: tuple[str, list[Any]]) -> None:
    """PyTorch's own check of its invariants holds, as the program asserts."""
    file, _ = recorded
    answer = json.loads(call("trace", file, "--only", "stale", "--format", "json").out)
    rows = [
        (finding["kind"], finding["operator"], finding["key"], finding["calls"], finding["keys"])
        for finding in answer["findings"]
    ]
    assert [row for row in rows if row[0] == "stale"] == [
        ("stale", "own::op", "AutogradNestedTensor", 1, ["NestedTensorCPU"])
    ]
    explained = call("explain", "own::op", "AutogradNestedTensor", "--base", file)
    assert "because registering the kernel registered at program.py:45 at NestedTensorCPU did not" in explained.out
