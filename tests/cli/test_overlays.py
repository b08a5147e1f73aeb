"""States with an overlay: which names go together, and what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

BOTH = ("--base", "torch-2.15", "--base", "torch-2.15-mps")


def answer(*arguments: str, code: int = 0) -> Any:
    result = call(*arguments, "--format", "json")
    assert result.code == code, result.err
    return json.loads(result.out)


def rows(operator: str, *source: str) -> dict[str, Any]:
    (entry,) = [row for row in answer("table", *source, "--op", operator)["operators"] if row["operator"] == operator]
    return {row["key"]: row for row in entry["entries"]}


def test_an_overlay_without_its_state_is_refused_where_it_is_extended(tmp_path: Path) -> None:
    """Names that do not go together as options are in refused.txt."""
    file = tmp_path / "mine.yaml"
    file.write_text("dispatch: 1\nextends: [torch-2.15-mps]\n")
    (problem,) = answer("table", str(file), "--op", "aten::abs", code=2)["problems"]
    assert problem["hint"].endswith("or extends: [torch-2.15, torch-2.15-mps]")
    assert problem["declared_at"]["line"] == 2


def test_what_is_not_known_is_neither_missing_nor_certain() -> None:
    svd = rows("aten::linalg_svd", *BOTH)
    assert {key for key, row in svd.items() if row["rule"] == "not-known"} == {
        *("MPS", "QuantizedMPS", "SparseMPS", "SparseCsrMPS", "NestedTensorMPS"),
        *("AutogradMPS", "AutogradOther", "AutogradNestedTensor"),
    }
    assert svd["AutogradMPS"]["blockers"] == ["MPS"]
    assert svd["MPS"]["kernel"] is None
    otherwise = svd["MPS"]["otherwise"]
    assert (otherwise["rule"], otherwise["source"]) == ("math", "CompositeImplicitAutograd")
    assert otherwise["kernel"] == svd["HIP"]["kernel"]
    renorm = rows("aten::embedding_renorm_", *BOTH)
    assert (renorm["MPS"]["rule"], renorm["MPS"]["otherwise"]["rule"]) == ("not-known", "missing")
    assert renorm["AutogradMPS"]["rule"] == "autograd"
    add = rows("aten::add.Tensor", *BOTH)
    assert (add["MPS"]["rule"], add["MPS"]["kernel"]) == ("kernel", "structured_add_out_mps_functional")


def test_a_call_ends_where_it_is_not_known_what_runs() -> None:
    report = answer("resolve", "aten::embedding_renorm_", "--tensor", "mps", "--tensor", "mps", *BOTH)
    assert report["end"]["kind"] == "not-known"
    last = report["selections"][-1]["steps"][-1]
    assert (last["slot"], last["does"], last["why"]) == ("MPS", "not-known", "incomplete")
    report = answer("resolve", "aten::add.Tensor", "--tensor", "mps", "--tensor", "mps", *BOTH)
    assert report["end"]["kind"] == "kernel"


def test_no_finding_rests_on_an_incomplete_key() -> None:
    findings = {}
    for source in (BOTH[:2], BOTH):
        reported = answer("check-invariants", *source, "--op", "aten::[ac-gl-n]*", code=1)["findings"]
        findings[source] = {(row["check"], row["operator"], row["key"]): row["message"] for row in reported}
    alone, laid = findings[BOTH[:2]], findings[BOTH]
    assert laid.keys() <= alone.keys()
    assert len(laid) > 15
    assert not any("MPS" in message and "MPS" not in alone[found] for found, message in laid.items())


@pytest.mark.parametrize(
    ("guard", "holds"),
    [
        ("{op: aten::embedding_renorm_, key: MPS, rule: kernel}", True),
        ("{op: aten::embedding_renorm_, key: MPS, kernel: mine}", True),
        ("{op: aten::embedding_renorm_, key: MPS, not: not-known}", False),
        ("{op: 'aten::embedding*', key: MPS, not: not-known}", False),
        ("{op: aten::add.Tensor, key: MPS, rule: missing}", False),
        ("{op: aten::embedding_renorm_, key: XLA, rule: kernel}", False),
    ],
)
def test_guards_hold_where_it_is_not_known_unless_they_say_otherwise(guard: str, holds: bool, tmp_path: Path) -> None:
    file = tmp_path / "guards.yaml"
    file.write_text(f"dispatch: 1\nguards:\n  - {guard}\n")
    result = call("check-invariants", *BOTH, "--guards", str(file), "--select", "guard")
    assert result.code == (0 if holds else 1), result.out + result.err


def test_a_backend_that_the_build_lacks_is_said_until_its_overlay_is_loaded() -> None:
    """The overlay is assumed for a device or key that only it has, unless a state is named."""
    add, both, base = "aten::add.Tensor", " ".join(BOTH), BOTH[:2]
    sentence = "The build of torch-2.15 has no kernels at MPS"
    asked = (("explain", add, "MPS"), ("resolve", add, "--tensor", "mps:0"), ("coverage", "MPS", "--op", add))
    for arguments in asked:
        shown = call(*arguments, *base).out
        assert f"{sentence}, so" in shown and f"With `{both}`" in shown, arguments
        assert sentence not in call(*arguments, *BOTH).out, arguments
    for arguments in (*asked, ("resolve", "aten::zeros", "--argument", "device=mps")):
        shown = call(*arguments).out
        assert "over torch-2.15, torch-2.15-mps (assumed;" in shown, arguments
        assert sentence not in shown, arguments
    assert "The build of" not in call("explain", add, "AutogradMPS", *base).out
