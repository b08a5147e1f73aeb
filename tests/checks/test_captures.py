"""Captured libraries are checked as declared ones are; what was not checked is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Group
from tests.cli.support import call

CORE = {"func": "aten::op(Tensor x) -> Tensor", "dispatch": {"CPU": "core_cpu"}}
MINE = {"func": "mylib::op(Tensor x) -> Tensor", "dispatch": {"CPU": "mine_cpu"}, "fake": "mine_fake"}
OVER = {"name": "aten::op", "dispatch": {"CUDA": "mine_cuda"}}
NO_AUTOGRAD = "no-autograd-kernel"


def capture(tmp_path: Path, **fields: Any) -> str:
    path = tmp_path / "cap.json"
    path.write_text(json.dumps({"dispatch": 1, "snapshot": True, "operators": [CORE], **fields}), encoding="utf-8")
    return str(path)


def checked(file: str, *options: str) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    result = call("check-invariants", file, "--config", "none", "--select", NO_AUTOGRAD, "--format", "json", *options)
    data = json.loads(result.out)
    return [(row["severity"], row["operator"], row["key"]) for row in data["findings"]], data["not_checked"]


def test_a_library_in_a_capture_is_checked_as_by_hand(tmp_path: Path) -> None:
    """A registration of the user's is checked for an operator of PyTorch's too."""
    file = capture(tmp_path, pytorch=True, imported={"modules": ["mylib"], "operators": [MINE, OVER]})
    by_hand = tmp_path / "mine.json"
    (tmp_path / "base").mkdir()
    base = capture(tmp_path / "base", pytorch=True)
    by_hand.write_text(json.dumps({"dispatch": 1, "extends": [base], "operators": [MINE, OVER]}), encoding="utf-8")
    reported = checked(file)
    assert reported == checked(str(by_hand))
    assert reported == (
        [("info", "mylib::op", "AutogradCPU"), ("info", "aten::op", "AutogradCPU")],
        {"pytorch": 0, "extended": 0, "unknown": 0},
    )
    assert checked(file, "--op", "mylib::*")[0] == [("info", "mylib::op", "AutogradCPU")]


def test_what_pytorch_registered_is_checked_when_it_is_asked_for(tmp_path: Path) -> None:
    imported = {"modules": ["mylib"], "operators": [{**MINE, "dispatch": {"CPU": "f", "Autograd": "g"}}]}
    file = capture(tmp_path, pytorch=True, imported=imported)
    assert checked(file) == ([], {"pytorch": 1, "extended": 0, "unknown": 0})
    text = call("check-invariants", file, "--config", "none").out
    assert text == (
        "1 operator that PyTorch registered was not checked; `check-invariants --pytorch` checks them\n"
        f"All checks passed: 1 operator, {sum(rule.group is not Group.DRIFT for rule in CHECKS)} checks (torch-2.15)\n"
    )
    # no other operator of aten has a kernel for autograd, so this one needs none
    assert checked(file, "--pytorch") == ([], {"pytorch": 0, "extended": 0, "unknown": 0})
    assert "1 operator, " in call("check-invariants", file, "--config", "none", "--pytorch").out


def test_a_capture_of_pytorch_alone_is_checked_like_a_base(tmp_path: Path) -> None:
    other = {"func": "aten::other(Tensor x) -> Tensor", "dispatch": {"CPU": "f", "Autograd": "g"}}
    file = capture(tmp_path, pytorch=True, operators=[CORE, other])
    assert checked(file) == (
        [("info", "aten::op", "AutogradCPU")],
        {"pytorch": 0, "extended": 0, "unknown": 0},
    )


def test_an_older_capture_is_not_said_to_be_clean(tmp_path: Path) -> None:
    file = capture(tmp_path, operators=[CORE, MINE])
    assert checked(file) == ([], {"pytorch": 0, "extended": 0, "unknown": 2})
    assert call("check-invariants", file, "--config", "none").out.startswith(
        "the capture does not say who registered 2 operators, which were checked as PyTorch's own; make a new capture "
        "to check those of other libraries fully\n"
    )


def test_pytorch_is_there_to_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"dispatch": 1, "operators": [MINE]}), encoding="utf-8")
    result = call("check-invariants", str(path), "--pytorch")
    assert result.code == 2
    assert "--pytorch needs a PyTorch state" in result.err


PLACE = "registered at site-packages/torch/_library/custom_ops.py:1104"


@pytest.mark.parametrize(("key", "count"), [("ADInplaceOrView", 0), ("CPU", 1)])
def test_what_custom_op_registers_twice_is_meant(tmp_path: Path, key: str, count: int) -> None:
    """`torch.library.custom_op` registers two kernels at ADInplaceOrView for an operator that writes."""
    mine = {"func": "mylib::op(Tensor(a!) x) -> ()", "dispatch": {key: [{"debug": PLACE}, {"debug": PLACE}]}}
    file = capture(tmp_path, pytorch=True, imported={"operators": [mine]})
    result = call("check-invariants", file, "--config", "none", "--select", "overridden-kernel", "--format", "json")
    assert len(json.loads(result.out)["findings"]) == count
