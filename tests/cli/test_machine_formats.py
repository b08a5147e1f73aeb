"""JSON, CSV, Markdown and raw answers, whole."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest

from dispatch_cli import universes
from tests.cli.field_list import FIELDS, field_list, types_of
from tests.cli.support import call

DECLARATIONS = """\
dispatch: 1
fallbacks: {PrivateUse1: demo_fallback}
operators:
  - func: demo::op(Tensor x) -> Tensor
    tags: [core]
    dispatch:
      CPU: {kernel: "op_[alias]_*|`cpu`", signature: "(Tensor x) -> Tensor"}
      CompositeExplicitAutograd: op_default
      AutogradCPU: fallthrough
    python_dispatch: {CPU: op_python}
  - name: demo::lost
    dispatch: {CPU: lost_cpu}
higher_order_operators:
  - {name: hop, dispatch: {CPU: hop_cpu}, modes: {FakeTensorMode: hop_fake}, side_effect: true}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(DECLARATIONS, encoding="utf-8")
    return "a.yaml"


def place(line: int, column: int) -> dict[str, object]:
    return {"file": "a.yaml", "line": line, "column": column}


OWN = {"state": None, "through": []}
"""What is declared in a file that was named, and not extended."""


def test_register_json(file: str) -> None:
    result = call("register", file, "--format", "json")
    assert (result.code, result.err) == (0, "")
    kernel = {"active": True, "python": False, "redispatches": None, "fake": None, "wraps": None, "when": None}
    rule = {"fallthrough": False, "redispatches": None, "returns_not_implemented": False, "deferred_error": None}
    rule["errors"] = {}
    assert json.loads(result.out) == {
        "schema_version": 3,
        "report": "registrations",
        "universe": "torch-2.15",
        "over_assumed": False,
        "core_fallbacks": 38,
        "fallbacks": [
            {
                "key": "PrivateUse1",
                "kernel": "demo_fallback",
                "fallthrough": False,
                "declared_at": place(2, 26),
                "when": None,
                **OWN,
            }
        ],
        "higher_order_operators": [
            {
                "name": "hop",
                "impls": [
                    {
                        **rule,
                        "kind": "dispatch",
                        "name": "CPU",
                        "kernel": "hop_cpu",
                        "declared_at": place(14, 28),
                        "registered_at": ["CPU"],
                        "fills": 1,
                    },
                    {
                        **rule,
                        "kind": "mode",
                        "name": "FakeTensorMode",
                        "kernel": "hop_fake",
                        "declared_at": place(14, 51),
                        "registered_at": ["FakeTensorMode"],
                        "fills": 0,
                    },
                ],
                "default_fallthrough": list(universes.load("torch-2.15").higher_order_fallthrough),
                "side_effect": True,
                "mutates": False,
                "declared_at": place(14, 5),
            }
        ],
        "operators": [
            {
                "operator": "demo::lost",
                "schema": None,
                "debug": None,
                "alias_analysis": None,
                "tags": [],
                "declared_at": None,
                **OWN,
                "kernels": [
                    {
                        **kernel,
                        "key": "CPU",
                        "alias": False,
                        "kernel": "lost_cpu",
                        "debug": "lost_cpu",
                        "fills": 1,
                        "covers": 1,
                        "signature": None,
                        "flags": ["boxed"],
                        "declared_at": place(12, 21),
                        **OWN,
                    }
                ],
                "python_kernels": [],
            },
            {
                "operator": "demo::op",
                "schema": "demo::op(Tensor x) -> Tensor",
                "debug": "registered at a.yaml:4",
                "alias_analysis": "FROM_SCHEMA",
                "tags": ["core"],
                "declared_at": place(4, 11),
                **OWN,
                "kernels": [
                    {
                        **kernel,
                        "key": "CPU",
                        "alias": False,
                        "kernel": "op_[alias]_*|`cpu`",
                        "debug": "op_[alias]_*|`cpu`",
                        "fills": 1,
                        "covers": 1,
                        "signature": "(Tensor x) -> Tensor",
                        "flags": ["boxed", "unboxed"],
                        "declared_at": place(7, 12),
                        **OWN,
                    },
                    {
                        **kernel,
                        "key": "AutogradCPU",
                        "alias": False,
                        "kernel": "registered at a.yaml:4",
                        "debug": "registered at a.yaml:4",
                        "fills": 1,
                        "covers": 1,
                        "signature": None,
                        "flags": ["fallthrough", "boxed"],
                        "declared_at": place(9, 20),
                        **OWN,
                    },
                    {
                        **kernel,
                        "key": "CompositeExplicitAutograd",
                        "alias": True,
                        "kernel": "op_default",
                        "debug": "op_default",
                        "fills": 69,
                        "covers": 70,
                        "signature": None,
                        "flags": ["boxed"],
                        "declared_at": place(8, 34),
                        **OWN,
                    },
                ],
                "python_kernels": [{"key": "CPU", "kernel": "op_python", "declared_at": place(10, 23), "when": None}],
            },
        ],
    }


def test_register_csv(file: str) -> None:
    assert call("register", file, "--format", "csv").out == (
        "operator,key,alias,kernel,state,fills,signature,flags,declared_at,kind,fake\n"
        "demo::lost,CPU,false,lost_cpu,active,1,,boxed,a.yaml:12:21,kernel,\n"
        "demo::op,CPU,false,op_[alias]_*|`cpu`,active,1,(Tensor x) -> Tensor,boxed unboxed,a.yaml:7:12,kernel,\n"
        "demo::op,AutogradCPU,false,registered at a.yaml:4,active,1,,fallthrough boxed,a.yaml:9:20,kernel,\n"
        "demo::op,CompositeExplicitAutograd,true,op_default,active,69,,boxed,a.yaml:8:34,kernel,\n"
        "demo::op,CPU,,op_python,active,,,,a.yaml:10:23,python,\n"
        "hop,CPU,,hop_cpu,active,1,,,a.yaml:14:28,dispatch,\n"
        "hop,FakeTensorMode,,hop_fake,active,0,,,a.yaml:14:51,mode,\n"
    )


def test_register_raw(file: str) -> None:
    assert call("register", file, "--format", "raw").out == (
        "name: demo::lost\n"
        "schema: (none)\n"
        "CPU: lost_cpu :: (none) [ boxed ]\n"
        "\n"
        "name: demo::op\n"
        "schema: demo::op(Tensor x) -> Tensor\n"
        "debug: registered at a.yaml:4\n"
        "alias analysis kind: FROM_SCHEMA\n"
        "CPU: op_[alias]_*|`cpu` :: (Tensor x) -> Tensor [ boxed unboxed ]\n"
        "AutogradCPU: registered at a.yaml:4 :: (none) [ fallthrough boxed ]\n"
        "CompositeExplicitAutograd[alias]: op_default :: (none) [ boxed ]\n"
    )


def test_table_json(file: str) -> None:
    result = call("table", file, "--op", "demo::op", "--key", "*CPU", "--key", "PrivateUse1", "--format", "json")
    document = json.loads(result.out)
    entries = document["operators"][0].pop("entries")
    default = "CompositeExplicitAutograd"
    assert document == {
        "schema_version": 3,
        "report": "table",
        "universe": "torch-2.15",
        "over_assumed": False,
        "higher_order_operators": [],
        "operators": [
            {
                "operator": "demo::op",
                "schema": "demo::op(Tensor x) -> Tensor",
                "declared_at": place(4, 11),
                "new": False,
                **OWN,
                "notes": [
                    {
                        "kind": "shadowed",
                        "keys": ["PrivateUse1"],
                        "culprits": [default],
                        "detail": "demo_fallback",
                        "text": "PrivateUse1: the backend fallback demo_fallback is not used, "
                        f"because {default} has a kernel",
                    },
                    {
                        "kind": "uncovered",
                        "keys": ["NestedTensorCPU"],
                        "culprits": [default],
                        "detail": "",
                        "text": f"NestedTensorCPU: missing; {default} has a kernel, but does not cover it",
                    },
                ],
            }
        ],
    }
    assert [entry["key"] for entry in entries] == [
        *("CPU", "PrivateUse1", "QuantizedCPU", "MkldnnCPU", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU"),
        *("AutogradCPU", "AutocastCPU"),
    ]
    fixed = {
        "blockers": [],
        "core_fallback": False,
        "stale": False,
        "before": None,
        "fallthrough": False,
        "when": None,
        "otherwise": None,
    }
    cpu = "op_[alias]_*|`cpu`"
    assert entries[0] == {
        **fixed,
        "key": "CPU",
        "rule": "kernel",
        "rule_number": 1,
        "kernel": cpu,
        "source": "CPU",
        "declared_at": place(7, 12),
        **OWN,
        "live_kernel": cpu,
    }
    assert entries[1] == {
        **fixed,
        "key": "PrivateUse1",
        "rule": "default",
        "rule_number": 3,
        "kernel": "op_default",
        "source": "CompositeExplicitAutograd",
        "declared_at": place(8, 34),
        **OWN,
        "live_kernel": "op_default",
    }
    assert entries[6] == {
        **fixed,
        "key": "NestedTensorCPU",
        "rule": "missing",
        "rule_number": 10,
        "kernel": None,
        "source": None,
        "declared_at": None,
        **OWN,
        "live_kernel": None,
    }
    assert entries[7] == {
        **fixed,
        "key": "AutogradCPU",
        "rule": "kernel",
        "rule_number": 1,
        "kernel": "registered at a.yaml:4",
        "fallthrough": True,
        "source": "AutogradCPU",
        "declared_at": place(9, 20),
        **OWN,
        "live_kernel": "registered at a.yaml:4",
    }
    assert (entries[8]["rule"], entries[8]["core_fallback"], entries[8]["fallthrough"]) == ("fallback", True, True)


def test_table_json_says_what_is_stale_and_what_the_base_had() -> None:
    result = call("table", "examples/stale.yaml", "--op", "stale::quantized", "--format", "json")
    entries = json.loads(result.out)["operators"][0]["entries"]
    assert len(entries) == 137
    assert [(entry["key"], entry["kernel"], entry["live_kernel"]) for entry in entries if entry["stale"]] == [
        ("AutogradOther", "ambiguous_autogradother", "quantized_math")
    ]
    result = call("table", "tests/cli/overlay.yaml", "--op", "aten::to.dtype", "--format", "json")
    entries = json.loads(result.out)["operators"][0]["entries"]
    before = [(entry["key"], entry["rule"], entry["before"]) for entry in entries if entry["before"]]
    was = {
        "rule": "math",
        "kernel": (
            "registered at /__w/pytorch/pytorch/build/aten/src/ATen/RegisterCompositeImplicitAutograd_0.cpp:9860"
        ),
        "fallthrough": False,
    }
    assert before == [("PrivateUse1", "kernel", was), ("AutogradPrivateUse1", "fallback", was)]


def test_table_csv_has_every_slot(file: str) -> None:
    rows = list(csv.DictReader(io.StringIO(call("table", file, "--format", "csv").out)))
    assert len(rows) == 3 * 137
    assert rows[-1] == {
        "operator": "hop",
        "key": "PythonDispatcher",
        "rule": "fallback",
        "rule_number": "9",
        "kernel": "",
        "fallthrough": "true",
        "source": "",
        "blockers": "",
        "declared_at": "",
        "live_kernel": "",
        "before": "",
        "otherwise": "",
    }
    assert rows[138] == {
        "operator": "demo::op",
        "key": "CPU",
        "rule": "kernel",
        "rule_number": "1",
        "kernel": "op_[alias]_*|`cpu`",
        "fallthrough": "false",
        "source": "CPU",
        "blockers": "",
        "declared_at": "a.yaml:7:12",
        "live_kernel": "op_[alias]_*|`cpu`",
        "before": "",
        "otherwise": "",
    }


def test_table_markdown(file: str) -> None:
    answer = call("table", file, "--op", "demo::op", "--key", "CPU", "--key", "AutogradCPU", "--format", "markdown")
    assert answer.out == (
        "## demo::op(Tensor x) -> Tensor\n\n"
        "defined at a.yaml:4:11\n\n"
        "| Key | Kernel | Rule | Declared at |\n"
        "| --- | --- | --- | --- |\n"
        "| CPU | op\\_\\[alias\\]\\_\\*\\|\\`cpu\\` | kernel | a.yaml:7:12 |\n"
        "| AutogradCPU | fallthrough | kernel | a.yaml:9:20 |\n"
    )


def test_table_summary(file: str) -> None:
    result = call("table", file, "--view", "summary", "--format", "json")
    slots = {"kernel": 1, "default": 0, "nested": 0, "ambiguous": 0, "math": 0, "autograd": 0, "batched": 0}
    document = json.loads(result.out)
    assert (document["schema_version"], document["report"]) == (3, "table-summary")
    assert document["operators"][0] == {
        "operator": "demo::lost",
        "declared_at": None,
        "slots": {**slots, "fallback": 39, "missing": 97, "not-known": 0},
        "stale": 0,
        "changed": 0,
    }
    assert call("table", file, "--view", "summary", "--format", "csv").out.splitlines()[1] == (
        "demo::lost,1,0,0,0,0,0,0,39,97,0,0,0,"
    )


def test_findings_json(file: str) -> None:
    result = call("check-invariants", file, "--select", "dangling-implementation,guard", "--format", "json")
    assert (result.code, result.err) == (1, "")
    document = json.loads(result.out)
    (found,) = document["findings"]
    assert len(found.pop("fingerprint")) == 32
    assert document == {
        "schema_version": 3,
        "report": "findings",
        "universe": "torch-2.15",
        "over_assumed": False,
        "operators": 3,
        "fail_on": "warning",
        "failed": True,
        "counts": {"error": 1, "warning": 0, "info": 0},
        "checks": [
            {
                "id": "dangling-implementation",
                "code": "DC101",
                "title": "every operator with kernels has a schema",
                "severity": "error",
                "ran": True,
                "lacks": None,
            },
            {
                "id": "guard",
                "code": "DC901",
                "title": "the guards of the declarations hold",
                "severity": "error",
                "ran": True,
                "lacks": None,
            },
        ],
        "suppressed_count": 0,
        "suppressed": [],
        "unlisted": [],
        "baseline": None,
        "not_checked": {"pytorch": 0, "extended": 0, "unknown": 0},
        "built": None,
        "conditions": None,
        "unknown_schemas": [],
        "undecided": 0,
        "not_understood": 0,
        "findings": [
            {
                "check": "dangling-implementation",
                "code": "DC101",
                "severity": "error",
                "message": "demo::lost has kernels at CPU, but nothing defines it",
                "operator": "demo::lost",
                "key": None,
                "details": {"keys": "CPU"},
                "when": None,
                "tip": "define the operator, correct its name, or load the declarations that define it as well",
                "group_message": None,
                "mark": "CPU",
                "subject": "",
                "fix": [],
                "declared_at": place(12, 16),
                "related": [],
            }
        ],
    }


def test_findings_csv_and_markdown(file: str) -> None:
    message = "demo::lost has kernels at CPU, but nothing defines it"
    args = ("check-invariants", file, "--select", "dangling-implementation", "--format")
    assert call(*args, "csv").out == (
        "check,severity,operator,key,message,declared_at\n"
        f'dangling-implementation,error,demo::lost,,"{message}",a.yaml:12:16\n'
    )
    assert call(*args, "markdown").out == (
        f"**a.yaml:12:16:** error\\[dangling-implementation\\]: {message}\n\n```\n12 | dispatch: {{CPU: "
        "lost_cpu}\n   |            ^^^\n```\n\n- keys: CPU\n- tip: define the operator, correct its name, or load "
        "the declarations that define it as well\n\n"
        "1 error in 1 operator; checked: 3 operators, 1 check (torch-2.15)\n"
    )


def test_findings_raw() -> None:
    result = call("check-invariants", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw")
    registrations = call("register", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw").out
    table = call("table", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw").out
    assert result.code == 1
    assert result.out == (f"Canonical state\n~~~~~~~~~~~\n{registrations}\n\nComputed table:\n~~~~~~~~~~~\n{table}")


def test_nothing_found_in_every_format() -> None:
    source = ("examples/custom_library.yaml",)
    for format_ in ("text", "json", "csv", "markdown", "html", "raw", "sarif", "github", "junit"):
        result = call("check-invariants", *source, "--format", format_)
        assert (result.code, result.err) == (0, "")
    assert call("check-invariants", *source, "--format", "github").out == ""
    assert call("check-invariants", *source, "--format", "raw").out == ""


# The JSON and CSV reports have the fields that are recorded; see `tests.cli.field_list`.


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for PyTorch is a shell script")
def test_the_fields_are_as_recorded() -> None:
    assert field_list().splitlines() == FIELDS.read_text(encoding="utf-8").splitlines()


def test_the_path_and_type_of_every_value() -> None:
    document = {"at": {"file": "a", "line": 1, "column": 2}, "many": [{"x": None}, {"x": 1}], "details": {"why": "so"}}
    assert list(types_of(document)) == [
        ("", "object"),
        ("at", "place"),
        ("many", "list"),
        ("many[]", "object"),
        ("many[].x", "null"),
        ("many[]", "object"),
        ("many[].x", "number"),
        ("details", "object"),
        ("details{}", "text"),
    ]
