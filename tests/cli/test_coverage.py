"""``dispatch-cli coverage``"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bases
from dispatch_cli.answers.coverage.wording import percent_text
from dispatch_cli.engine.backend_answers import SchemaKind, schema_kind
from tests.cli.support import call

BACKEND = "examples/out_of_tree_backend.yaml"


def data(*args: str) -> Any:
    result = call("coverage", *args, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("name", ["PrivateUse1", "privateuse1", "PRIVATEUSEONE", "DispatchKey.PrivateUse1"])
def test_a_backend_is_a_key_or_a_device_in_any_case(name: str) -> None:
    backend = data(name, BACKEND)["backend"]
    assert backend == {
        "key": "PrivateUse1",
        "device": "privateuseone",
        "autograd": "AutogradPrivateUse1",
        "autocast": "AutocastPrivateUse1",
    }


def test_kinds_of_schemas_agree_with_tags() -> None:
    """PyTorch tags the operators of aten that write to what they return, from native_functions.yaml."""
    base = bases.load("torch-2.15")
    for name in base.names:
        schema, tags = base.header(name).schema, base.listing(name).tags
        kind = schema_kind(schema or "")
        if name.startswith("aten::") and name != "aten::shallow_copy_data_":
            assert ("out" in tags, "inplace" in tags) == (kind is SchemaKind.OUT, kind is SchemaKind.INPLACE), schema


def test_tags() -> None:
    core = data("PrivateUse1", "--base", "torch-2.15", "--tag", "core")
    assert (core["chosen"], core["tags"]) == (193, ["core"])


def test_served_by_nothing() -> None:
    core = ("XLA", "--base", "torch-2.15", "--tag", "core")
    every, missing = data(*core), data(*core, "--served-by", "nothing")
    assert missing["chosen"] == every["chosen"] == len(every["operators"])
    assert missing["operators"] == [operator for operator in every["operators"] if operator["service"] == "nothing"]
    assert len(missing["operators"]) > 5


def test_many_operators_are_listed_where_some_are_chosen() -> None:
    counts = call("coverage", "mps").out
    assert counts.startswith("MPS: ") and "aten::" not in counts
    assert "`--op '*'` lists all 3,624 operators" in counts
    assert call("coverage", "mps", "--op", "*").out.count("\naten::") > 3_000
    assert call("coverage", "mps", "--served-by", "fallback", "--served-by", "kernel").out.count("\naten::") == 928
    own = call("coverage", "PrivateUse1", BACKEND)
    assert "\naten::to_like" in own.out, "few are listed"


def test_an_overlay_is_assumed_for_an_older_state_as_well() -> None:
    assert data("mps", "--against", "torch-2.13")["against"] == ["torch-2.13", "torch-2.13-mps"]


def test_what_a_newer_state_needs() -> None:
    """PyTorch 2.15 has another schema of _cdist_backward than 2.13, and linalg_polar, which 2.13 does not have."""
    ops = ("--op", "aten::_cdist*", "--op", "aten::linalg_polar*")
    report = data("PrivateUse1", "--base", "torch-2.15", "--against", "torch-2.13", *ops)
    assert report["against"] == ["torch-2.13"]
    needs = {operator["operator"]: operator["needs"] for operator in report["operators"]}
    assert needs == {
        "aten::_cdist_backward": ["schema-changed"],
        "aten::_cdist_backward.out": ["schema-changed"],
        "aten::linalg_polar": ["new"],
        "aten::linalg_polar.out": ["new"],
    }
    assert "float p, Tensor cdist)" in report["operators"][0]["schema_before"]


def test_what_was_served_before_needs_nothing(tmp_path: Path) -> None:
    """The same files over both states: an operator that both serve needs nothing."""
    file = tmp_path / "d.yaml"
    file.write_text("dispatch: 1\noperators:\n- {func: 'm::a(Tensor x) -> Tensor', dispatch: {XLA: k}}\n")
    report = data("XLA", str(file), "--base", "torch-2.15", "--against", "torch-2.13", "--op", "m::*")
    assert (report["chosen"], report["operators"]) == (1, [])


def test_where_the_state_is_incomplete_it_is_not_known() -> None:
    """A plain kernel at MPS is in PyTorch's YAML for aten::relu, and none is for aten::empty_like."""
    base = ("--base", "torch-2.15", "--base", "torch-2.15-mps")
    report = data("MPS", *base, "--op", "aten::relu", "--op", "aten::empty_like", "--op", "aten::relu_")
    services = {row["operator"]: (row["service"], row["otherwise"], row["served"]) for row in report["operators"]}
    assert services["aten::relu"] == ("kernel", None, True)
    assert services["aten::empty_like"] == ("not-known", "composite", None)
    assert (report["not_known"], report["overlay"]) == (sum(service[2] is None for service in services.values()), None)
    without = data("MPS", "--base", "torch-2.15", "--op", "aten::relu")
    services = {operator["operator"]: operator["service"] for operator in without["operators"]}
    assert (without["overlay"], services["aten::relu"], without["not_known"]) == ("torch-2.15-mps", "nothing", 0)
    assert data("XLA", "--base", "torch-2.15", "--op", "aten::relu")["overlay"] is None


def test_the_share_of_a_backend_with_a_composite_for_all() -> None:
    assert data("PrivateUse1", BACKEND)["percent"] == 100
    assert data("MkldnnCPU", "examples/ambiguous.yaml")["percent"] == 50


def text(*args: str) -> list[str]:
    result = call("coverage", *args)
    assert result.code == 0, result.err
    return result.out.splitlines()


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, "0.0"), (1, "<0.1"), (1812, "50.0"), (3623, ">99.9"), (3624, "100.0")],
)
def test_what_is_neither_nothing_nor_all_is_never_written_so(part: int, text: str) -> None:
    assert percent_text(part, 3624) == text


def test_an_operator_that_nothing_defines_is_not_said_to_take_no_tensors(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "dispatch: 1\noperators:\n- func: m::f(Tensor x) -> Tensor\n- {name: m::ff, dispatch: {CUDA: f}}\n",
        encoding="utf-8",
    )
    (row,) = (row for row in data("CUDA", str(path))["operators"] if row["operator"] == "m::ff")
    assert (row["service"], row["lack"], row["training"]) == ("nothing", "no-schema", "no-schema")
