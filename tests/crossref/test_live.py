"""The engine against a live PyTorch, whatever its version: everything equal; and an extension's oddities are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import captured, live_sample, live_state, torch_python
from tests.cli.support import ROOT, process
from tests.once import once

pytestmark = pytest.mark.live

TOLD_APART = ("aten::zeros_like", "aten::native_batch_norm")
"""Operators for which C++ and Python choose differently, each for another reason."""


def crossref(*args: str, code: int = 0, **variables: str) -> Any:
    result = process("crossref", *args, "--python", torch_python(), "--format", "json", stdin=b"", **variables)
    assert (result.code, result.err) == (code, "")
    return json.loads(result.out)


@pytest.fixture(scope="module")
def live() -> Any:
    """The registrations by way of the file of a capture, Python kernels too, against PyTorch's answers.

    They are asked about 300 operators, for which the variable DISPATCH_CLI_LIVE_ALL puts all, and all of higher order.
    """
    state = live_state()
    names = live_sample([operator["name"] for operator in state["operators"]], 300)
    names += [*TOLD_APART, *(operator["name"] for operator in state["higher_order_operators"])]
    words = [word for name in names for word in ("--op", name)]

    def ask(folder: Path) -> None:
        (folder / "report.json").write_text(json.dumps(crossref(str(captured()), *words)), encoding="utf-8")

    return json.loads((once("crossref", ask) / "report.json").read_text(encoding="utf-8"))


def test_all_keys_are_equal(live: Any) -> None:
    assert live["differences"] == []
    assert live["equal"] is True
    counts = {count["part"]: count["compared"] for count in live["counts"]}
    operators = counts["operator"]
    assert operators >= 300
    assert counts["dump"] == counts["invariants"] == operators
    assert counts["table"] == counts["resolve_key"] > 120 * operators
    assert counts["table"] % operators == 0
    assert counts["higher_order"] > 120 * 5
    assert counts["higher_order"] % (counts["table"] // operators) == 0


def test_an_extension_with_stale_tables_and_a_python_kernel(tmp_path: Path) -> None:
    """A composite kernel, then one at a quantized key: PyTorch's own invariants fail, and that is a finding."""
    (tmp_path / "odd_extension.py").write_text(
        "import torch\n"
        "library = torch.library.Library('odd', 'DEF')\n"
        "library.define('stale(Tensor x) -> Tensor')\n"
        "library.impl('stale', lambda x: x, 'CompositeImplicitAutograd')\n"
        "library.impl('stale', lambda x: x, 'QuantizedCPU')\n"
        "library.define('shadowed(Tensor x) -> Tensor')\n"
        "library.impl('shadowed', lambda x: x, 'CompositeImplicitAutograd')\n"
        "@torch.ops.odd.shadowed.default.py_impl(torch._C.DispatchKey.Meta)\n"
        "def meta(x):\n"
        "    return x\n",
        encoding="utf-8",
    )
    report = crossref("--import", "odd_extension", "--op", "odd::*", code=1, PYTHONPATH=f"{ROOT}:{tmp_path}")
    (difference,) = report["differences"]
    complaint = difference.pop("theirs")
    assert difference == {
        "operator": "odd::stale",
        "part": "invariants",
        "key": None,
        "ours": "the invariants hold",
    }
    assert "_equalsBoxedAndUnboxed" in complaint
    assert str(tmp_path) not in json.dumps(report)
