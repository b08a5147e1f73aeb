"""Captured libraries are checked as declared ones are; of very many findings some are listed, and all counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Finding, Group
from dispatch_cli.checks.running.listing import Limits, Listing, Unlisted
from dispatch_cli.model.names import Severity
from dispatch_cli.model.span import Span
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
        [("info", "mylib::op", "AutogradCPU"), ("info", "aten::op", "AutogradCUDA")],
        {"pytorch": 0, "extended": 0, "unknown": 0},
    )
    assert checked(file, "--op", "mylib::*")[0] == [("info", "mylib::op", "AutogradCPU")]


def test_what_pytorch_registered_is_counted(tmp_path: Path) -> None:
    imported = {"modules": ["mylib"], "operators": [{**MINE, "dispatch": {"CPU": "f", "Autograd": "g"}}]}
    file = capture(tmp_path, pytorch=True, imported=imported)
    assert checked(file) == ([], {"pytorch": 1, "extended": 0, "unknown": 0})
    text = call("check-invariants", file, "--config", "none").out
    assert text == (
        "1 operator that PyTorch registered was not checked; "
        "`check-invariants --base NAME` without files checks PyTorch's\n"
        f"All checks passed: 1 operator, {sum(rule.group is not Group.DRIFT for rule in CHECKS)} checks (torch-2.15)\n"
    )


PLACE = "registered at site-packages/torch/_library/custom_ops.py:1104"


@pytest.mark.parametrize(("key", "count"), [("ADInplaceOrView", 0), ("CPU", 1)])
def test_what_custom_op_registers_twice_is_meant(tmp_path: Path, key: str, count: int) -> None:
    """`torch.library.custom_op` registers two kernels at ADInplaceOrView for an operator that writes."""
    mine = {"func": "mylib::op(Tensor(a!) x) -> ()", "dispatch": {key: [{"debug": PLACE}, {"debug": PLACE}]}}
    file = capture(tmp_path, pytorch=True, imported={"operators": [mine]})
    result = call("check-invariants", file, "--config", "none", "--select", "overridden-kernel", "--format", "json")
    assert len(json.loads(result.out)["findings"]) == count


HERE, THERE = Span("a.yaml", 1, 1), Span("a.yaml", 2, 1)
LIMITS = Limits(of_check=6, of_group=3)


def listing(*findings: tuple[Span | None, str | None, int], limits: Limits | None = LIMITS) -> Listing:
    """findings: places, reasons, and how many of each, about operators ``o0``, ``o1``, …"""
    result = Listing("guard", limits)
    for span, reason, count in findings:
        for number in range(count):
            result.add(Finding("guard", Severity.ERROR, "", f"o{number}", span=span, shared=reason))
    return result


def test_the_first_of_each_group_are_listed() -> None:
    result = listing((HERE, "x", 5), (THERE, "x", 2))
    assert len(result.listed) == 5
    assert list(result.unlisted()) == [Unlisted("guard", Severity.ERROR, HERE, "x", 3, 2)]
    assert result.counts == {Severity.ERROR: 7}
    counts = {name: of[Severity.ERROR] for name, of in result.by_operator.items()}
    assert counts == {"o0": 2, "o1": 2, "o2": 1, "o3": 1, "o4": 1}


def test_groups_have_a_limit_too() -> None:
    result = listing(*((HERE, str(number), 2) for number in range(100)))
    others = [rest for rest in result.unlisted() if rest.span is None]
    assert [(other.reason, other.listed, other.findings) for other in others] == [(None, 0, 2 * 94)]
    assert len(result.listed) + sum(rest.findings for rest in result.unlisted()) == 200
    assert len(result.listed) < 2 * LIMITS.of_check
