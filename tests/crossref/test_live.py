"""The engine against a live PyTorch, whatever its version: everything equal; and an extension's oddities are named."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import captured, torch_python
from tests.cli.support import ROOT, process

pytestmark = pytest.mark.live


def crossref(*args: str, code: int = 0, **variables: str) -> Any:
    result = process("crossref", *args, "--python", torch_python(), "--format", "json", stdin=b"", **variables)
    assert (result.code, result.err) == (code, "")
    return json.loads(result.out)


@pytest.fixture(scope="module")
def live() -> Any:
    """The registrations by way of the file of a capture, Python kernels too, against all answers of PyTorch."""
    return crossref(str(captured()))


def test_all_operators_and_all_keys_are_equal(live: Any) -> None:
    assert live["differences"] == []
    assert live["equal"] is True
    counts = {count["part"]: count["compared"] for count in live["counts"]}
    operators = counts["operator"]
    assert operators > 3500
    assert counts["dump"] == counts["invariants"] == operators
    assert counts["table"] == counts["resolve_key"] > 120 * operators
    assert counts["table"] % operators == 0
    assert counts["higher_order"] > 120 * 5
    assert counts["higher_order"] % (counts["table"] // operators) == 0


def test_the_two_algorithms_are_told_apart(live: Any) -> None:
    """Python's kernels for conv and the like, and rule 5 at the nested keys of zeros_like."""
    report = live["python"]
    assert {reason["reason"] for reason in report["reasons"]} == {"nested-rule", "python-kernel"}
    assert sum(reason["slots"] for reason in report["reasons"]) == len(report["divergences"])
    assert {
        "operator": "aten::zeros_like",
        "key": "NestedTensorCPU",
        "cpp": {"rule": "nested", "source": "CompositeImplicitAutogradNestedTensor"},
        "python": {"rule": "missing", "source": None},
        "reason": "nested-rule",
        "because": ["CompositeExplicitAutograd"],
    } in report["divergences"]


def test_the_differences_of_the_two_algorithms_are_listed_without_pytorch(live: Any) -> None:
    """Tables and answers are equal to live at every slot, so that the list is what live says, too."""
    globs = ("aten::*conv*", "aten::*_like*", "[!a]*::*")
    chosen = [row for row in live["python"]["divergences"] if any(fnmatchcase(row["operator"], glob) for glob in globs)]
    some = [word for glob in globs for word in ("--op", glob)]
    answer = process("table", str(captured()), *some, "--resolver", "differences", "--format", "json").out
    listed = json.loads(answer)["operators"]
    assert [{"operator": row["operator"], **slot} for row in listed for slot in row["slots"]] == chosen != []


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
    assert [(divergence["key"], divergence["because"]) for divergence in report["python"]["divergences"]] == [
        ("Meta", ["Meta"]),
        ("AutogradMeta", ["Meta"]),
    ]
