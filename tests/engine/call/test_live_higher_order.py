"""Calls of random higher-order operators against a live PyTorch: the same rules run, with the same end."""

from __future__ import annotations

import json
import secrets
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import api
from dispatch_cli.capture.run import run_probe
from dispatch_cli.engine.call.trace import EndKind, ErrorKind
from tests.capture.support import torch_python
from tests.engine.call.higher_order_cases import declarations, differences

pytestmark = pytest.mark.live

COUNT = 1500


def live_cases(seed: int) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("live_higher_order.py")
    command = [torch_python(), str(script), str(seed), str(COUNT)]
    answer = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    cases: list[dict[str, Any]] = json.loads(answer.stdout)
    return cases


def test_random_calls(tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    cases = live_cases(seed)
    file = tmp_path / "operators.json"
    document = declarations(run_probe(torch_python())["universe"], cases)
    file.write_text(json.dumps(document), encoding="utf-8")
    different, ends = differences(api.load_state([str(file)]), cases)
    assert different == [], f"seed {seed}: {len(different)} of {len(cases)}"
    assert {EndKind.KERNEL, ErrorKind.PYTHON, ErrorKind.NO_KERNEL, ErrorKind.MODES} <= ends
