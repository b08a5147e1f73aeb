"""Questions to a live PyTorch besides its dumps, without one: a shell script stands in with a prepared answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bases, universes
from tests.cli.support import call
from tests.crossref.support import ADD, RELU, answer_of, python_that_answers, recording_of
from tests.support import load_recording

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in for Python is a shell script")

ZEROS, ALIAS = "aten::zeros_like", "aten::alias"
NAMES = (ADD, ALIAS, RELU, ZEROS)
SLOTS = 4 * 137


def answer() -> dict[str, Any]:
    """Answer of PyTorch 2.15, for a few operators."""
    resolved = load_recording("2.15.0.resolve_key")
    base = bases.load("torch-2.15")
    data = answer_of(
        recording_of(NAMES, "2.15.0"),
        resolve_rows=[list(resolved["rows"][resolved["row_of"][name]]) for name in NAMES],
        resolved={name: number for number, name in enumerate(NAMES)},
    )
    for operator in data["operators"]:
        operator["python"] = dict(base.operator(operator["name"]).python_kernels)
    return data


def with_higher_order() -> dict[str, Any]:
    """The same, and a higher-order operator about which PyTorch says other things than it has registered."""
    data = answer()
    nothing: dict[str, Any] = {field: {} for field in ("dispatch", "modes", "subclasses", "transforms")}
    rule = {"kernel": "m.autograd_not_implemented", "deferred_error": True}
    data["higher_order_operators"] = [
        {
            **nothing,
            "name": "wrapped",
            "dispatch": {"CPU": "m.cpu"},
            "fallthrough": ["XLA"],
            "autograd": rule,
            "functionalize": "m.functional",
            "side_effect": False,
        }
    ]
    universe = universes.load("torch-2.15")
    declared = {
        "CPU": "CPU",
        "Functionalize": "Functionalize",
        **dict.fromkeys(universe.covered_by("Autograd"), "Autograd"),
        **{fallback.key: fallback.key for fallback in universe.fallbacks if fallback.key not in AUTOGRAD},
    }
    row = [declared.get(slot, "missing") for slot in universe.slots]
    fallen = {*universe.higher_order_fallthrough, *universe.per_backend["Dense"]}
    row[universe.slot["Meta"]] = "CompositeExplicitAutograd"
    data["resolve_rows"].append(row)
    reached = [key for key in universe.runtime if key not in fallen or key in ("BackendSelect", "CPU")]
    data["higher_order_answers"] = {"wrapped": [len(NAMES), reached], "absent": [len(NAMES), []]}
    return data


AUTOGRAD = frozenset(universes.load("torch-2.15").covered_by("Autograd"))


def test_higher_order_operators(tmp_path: Path) -> None:
    """The fallthrough key XLA makes all Dense keys fall through."""
    python = python_that_answers(with_higher_order(), tmp_path)
    result = call("crossref", "--python", python, "--op", "wrapped", "--op", "higher_order.absent", "--format", "json")
    report = json.loads(result.out)
    assert result.code == 1
    assert report["counts"][-1] == {"part": "higher_order", "compared": 274, "different": 4}
    part = {"operator": "wrapped", "part": "higher_order"}
    assert report["differences"] == [
        {
            "operator": "absent",
            "part": "higher_order",
            "key": None,
            "ours": "no such operator",
            "theirs": "registered",
        },
        {**part, "key": "CPU", "ours": "fallthrough, CPU", "theirs": "CPU"},
        {
            **part,
            "key": "Meta",
            "ours": "fallthrough, Meta",
            "theirs": "fallthrough, CompositeExplicitAutograd",
        },
        {**part, "key": "BackendSelect", "ours": "fallthrough, BackendSelect", "theirs": "BackendSelect"},
    ]


def test_everything_is_equal(tmp_path: Path) -> None:
    """Python's resolve_key chooses other keys than the C++ table at some slots, which are no differences."""
    result = call("crossref", "--python", python_that_answers(answer(), tmp_path))
    assert (result.code, result.err) == (0, "")
    assert result.out == Path(__file__).with_name("equal.txt").read_text(encoding="utf-8")


def test_invariants_that_fail_and_other_answers_of_resolve_key(tmp_path: Path) -> None:
    data = answer()
    data["broken"] = {RELU: "INTERNAL ASSERT FAILED"}
    row = data["resolve_rows"][data["resolved"][ADD]]
    assert row[1:3] == ["CPU", "CUDA"]
    row[1:3] = ["missing", "missing"]
    result = call("crossref", "--against", "live", "--python", python_that_answers(data, tmp_path), "--format", "csv")
    assert (result.code, result.err) == (1, "")
    assert result.out == (
        "operator,part,key,ours,theirs\n"
        "aten::add.Tensor,resolve_key,CPU,CPU,missing\n"
        "aten::add.Tensor,resolve_key,CUDA,CUDA,missing\n"
        "aten::relu,invariants,,the invariants hold,INTERNAL ASSERT FAILED\n"
    )


def test_a_capture_against_a_live_pytorch(tmp_path: Path) -> None:
    """Changed registrations of the capture differ, and its Python kernels are known."""
    python, capture = python_that_answers(answer(), tmp_path), tmp_path / "capture.json"
    assert call("capture", "--python", python, "-o", str(capture)).code == 0
    data = json.loads(capture.read_text(encoding="utf-8"))
    (relu,) = (operator for operator in data["operators"] if operator["func"].startswith(f"{RELU}("))
    relu["dispatch"]["FPGA"] = {"debug": "mine"}
    capture.write_text(json.dumps(data), encoding="utf-8")
    result = call("crossref", str(capture), "--python", python, "--op", RELU, "--op", ALIAS, "--format", "csv")
    assert result.err == ""
    assert result.out == (
        "operator,part,key,ours,theirs\n"
        "aten::relu,dump,FPGA,mine :: (none) [ boxed ],\n"
        "aten::relu,table,FPGA,mine [kernel],\n"
        "aten::relu,resolve_key,FPGA,FPGA,missing\n"
    )
    assert result.code == 1


def test_operators_that_python_does_not_give_out_are_not_compared(tmp_path: Path) -> None:
    data = answer()
    del data["resolved"][ADD]
    result = call("crossref", "--python", python_that_answers(data, tmp_path), "--format", "json")
    assert result.code == 0
    counts = {count["part"]: count["compared"] for count in json.loads(result.out)["counts"]}
    assert counts == {"operator": 4, "dump": 4, "table": SLOTS, "invariants": 4, "resolve_key": SLOTS * 3 // 4}
