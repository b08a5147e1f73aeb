"""Programs that say themselves what ran, and what the view of their recordings finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.trace.recorded import LIVE_PROGRAMS, read, recorder_variables

pytestmark = pytest.mark.live

BACKEND = LIVE_PROGRAMS["fallbacks of a backend"]["program.py"]


class Found:
    """The recording of a program, in a folder. said: what it printed last. answer: what is said of the recording."""

    def __init__(self, folder: Path) -> None:
        self.file = str(folder / "r.trace")
        self.code, self.said = json.loads((folder / "ended").read_text(encoding="utf-8"))
        shown = call("trace", self.file, "--format", "json")
        assert shown.code == 0, shown.err
        self.answer = json.loads(shown.out)

    def of_kind(self, kind: str) -> list[Any]:
        return [finding for finding in self.answer["findings"] if finding["kind"] == kind]


def record(folder: Path, source: str) -> None:
    """Run a program."""
    (folder / "program.py").write_text(source, encoding="utf-8")
    added = recorder_variables(folder / "r.trace", "program.py")
    done = in_pytorch.run([torch_python(), "program.py"], check=False, folder=folder, variables=added)
    if "cannot import name '_setup_privateuseone_for_python_backend'" in done.stderr:
        pytest.skip("this PyTorch has no backends in Python")
    ended = [done.returncode, json.loads(done.stdout.splitlines()[-1])]
    (folder / "ended").write_text(json.dumps(ended), encoding="utf-8")
    read(folder / "r.trace")  # it is captured what is registered, before the folder gets another name


def test_fallbacks_are_counted_where_they_run(tmp_path: Path) -> None:
    """Not at the call around that calls the operator again, nor in calls that raised before."""
    record(tmp_path, BACKEND)
    recording = Found(tmp_path)
    assert recording.code == 1
    fallbacks = recording.of_kind("fallback")
    assert {fallback["operator"]: fallback["calls"] for fallback in fallbacks} == recording.said["ran"]
    counts = recording.answer["counts"]
    assert (counts["raised"], counts["unfinished"]) == (4, 0)
    rows = [row for thread in recording.answer["threads"] for row in thread["rows"]]
    assert [(row["operator"], row["raised"]) for row in rows if row["raised"]] == [("aten::mm", 3), ("aten::mm", 1)]
    assert not any(row["path"]["problem"] for row in rows)


INFERENCE = LIVE_PROGRAMS["operators for inference only"]["program.py"]


def test_operators_that_are_for_inference_only(tmp_path: Path) -> None:
    """PyTorch itself has no gradient for two of them, and nobody else is to write one."""
    record(tmp_path, INFERENCE)
    recording = Found(tmp_path)
    assert recording.said == ["quantized::linear_dynamic", "mkldnn::_linear_pointwise", "mine::thrice"]
    assert {row["operator"] for row in recording.of_kind("no-gradient")} == {"mine::thrice", "mine::twice"}


@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_kernels_that_inductor_compiled_are_not_recorded(tmp_path: Path, backend: str) -> None:
    """They make no calls: PyTorch's profiler is told of none. That is said once, and only where there are some."""
    source = LIVE_PROGRAMS["kernels that inductor compiled are not recorded"]["program.py"]
    record(tmp_path, source.replace("sys.argv[1]", repr(backend)))
    recording = Found(tmp_path)
    is_compiled = backend == "inductor"
    assert recording.said == (not is_compiled)
    text = call("trace", recording.file).out
    assert text.count("what kernels do that Inductor compiled: they make no calls\n") == is_compiled
    assert [stop["reason"] for stop in recording.answer["not_recorded"]] == ["inductor"] * is_compiled
    assert recording.answer["counts"]["unfinished"] == 0
