"""``dispatch-cli coverage``"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

BACKEND = "examples/out_of_tree_backend.yaml"


def data(*args: str) -> Any:
    result = call("coverage", *args, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("name", ["PrivateUse1", "privateuse1", "PRIVATEUSEONE", "DispatchKey.PrivateUse1"])
def test_a_backend_is_a_key_or_a_device_in_any_case(name: str) -> None:
    found = data(name, BACKEND)["backend"]
    assert found == {
        "key": "PrivateUse1",
        "device": "privateuseone",
        "autograd": "AutogradPrivateUse1",
        "autocast": "AutocastPrivateUse1",
    }


def test_a_backend_is_called_by_its_name() -> None:
    assert data("NPU", BACKEND, "--privateuse1", "npu")["backend"]["device"] == "npu"
    assert data("sparsenpu", BACKEND, "--privateuse1", "npu")["backend"]["key"] == "SparsePrivateUse1"


@pytest.mark.parametrize("name", ["AutogradCPU", "Dense", "CompositeImplicitAutograd", "Undefined", "npu", ""])
def test_what_is_no_backend(name: str) -> None:
    result = call("coverage", name, BACKEND)
    assert (result.code, result.out) == (2, "")
    assert "is no backend of torch-2.15" in result.err


def test_a_backend_is_needed() -> None:
    result = call("coverage")
    assert result.code == 2
    assert "Give a backend" in result.err


def test_tags() -> None:
    core = data("PrivateUse1", "--base", "torch-2.15", "--tag", "core")
    assert (core["chosen"], core["tags"]) == (193, ["core"])
    either = data("PrivateUse1", "--base", "torch-2.15", "--tag", "core", "--tag", "pointwise")
    assert either["chosen"] > core["chosen"]
    wrong = call("coverage", "PrivateUse1", "--base", "torch-2.15", "--tag", "coer")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean core?" in wrong.err.lower()


def test_missing_lists_what_nothing_serves_and_counts_all() -> None:
    every, missing = data("XLA", "--base", "torch-2.15"), data("XLA", "--base", "torch-2.15", "--missing")
    assert missing["chosen"] == every["chosen"] == len(every["operators"])
    assert missing["operators"] == [one for one in every["operators"] if not one["served"]]
    assert len(missing["operators"]) == every["chosen"] - every["served"]


def test_sort() -> None:
    by_name = data("XLA", "--base", "torch-2.15")["operators"]
    assert [one["operator"] for one in by_name] == sorted(one["operator"] for one in by_name)
    by_service = data("XLA", "--base", "torch-2.15", "--sort", "service")["operators"]
    assert sorted(map(str, by_service)) == sorted(map(str, by_name))
    assert by_service[0]["service"] == "nothing"
    assert data("MkldnnCPU", "examples/ambiguous.yaml", "--sort", "training")["operators"][0]["training"] == "broken"


def test_exit_codes() -> None:
    served = data("PrivateUse1", BACKEND)
    assert served["percent"] == 100
    assert call("coverage", "PrivateUse1", BACKEND, "--fail-under", "100").code == 0
    assert call("coverage", "MkldnnCPU", "examples/ambiguous.yaml", "--fail-under", "50").code == 0
    assert call("coverage", "MkldnnCPU", "examples/ambiguous.yaml", "--fail-under", "50.1").code == 1
    assert call("coverage", "MkldnnCPU", "examples/ambiguous.yaml").code == 0
    assert call("coverage", "CPU", BACKEND, "--fail-under", "101").code == 2


def test_families_fold_what_has_one_answer(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(
        "dispatch: 1\noperators:\n"
        + "".join(
            f"- {{func: 'm::{name}(Tensor x) -> Tensor', dispatch: {{{key}: k}}}}\n"
            for name, key in (("a", "CPU"), ("a.out", "CPU"), ("a_", "CPU"), ("a.b", "CUDA"), ("c__", "CPU"))
        ),
        encoding="utf-8",
    )
    operators = {one["operator"]: one["family"] for one in data("CPU", str(file))["operators"]}
    assert operators == {"m::a": "m::a", "m::a.out": "m::a", "m::a_": "m::a", "m::a.b": "m::a", "m::c__": "m::c__"}
    rows = [line.split() for line in call("coverage", "CPU", str(file)).out.splitlines() if line.startswith("m::")]
    assert [row[0] for row in rows] == ["m::a", "m::a.b", "m::c__"]
    assert " ".join(rows[0]).endswith(f"-, .out, _ {file}:3:54 and 2 more")
