"""What the reader of an error is told to do, done in a live PyTorch: the call that failed works then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import ROOT, call

pytestmark = pytest.mark.live


def test_each_step_helps(tmp_path: Path) -> None:
    """The step is among those of the answer to the text that this PyTorch printed."""
    path = tmp_path / "steps.json"
    script = ROOT / "tests/report/live_steps.py"
    in_pytorch.run([torch_python(), str(script), str(path)])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert len(found) == 12
    for name, step, text, with_step in found:
        assert text, name
        assert with_step == "", name
        result = call("explain", "--from-error", "-", "--format", "json", stdin=text.encode())
        assert (result.code, result.err) == (0, ""), name
        error = json.loads(result.out)["error"]
        assert step in [one["kind"] for one in error["steps"]], (name, error["steps"])
        if name == "with-autograd":
            assert {"autograd-only", "nowhere"} <= {one["kind"] for one in error["facts"]}
