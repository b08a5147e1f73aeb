"""JSON, CSV, Markdown and raw answers, whole, and the JSON Schemas of the reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator, meta

from dispatch_cli.cli.report_schemas import report_schema, report_types
from tests.cli.field_list import FIELDS, field_list
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


def test_table_summary(file: str) -> None:
    document = json.loads(call("table", file, "--view", "summary", "--format", "json").out)
    slots = {rule: count for rule, count in document["operators"][0]["slots"].items() if count}
    assert (document["operators"][0]["operator"], slots) == ("demo::lost", {"kernel": 1, "fallback": 39, "missing": 97})
    assert call("table", file, "--view", "summary", "--format", "csv").out.splitlines()[1] == (
        "demo::lost,1,0,0,0,0,0,0,39,97,0,0,0,"
    )


def test_findings_json(file: str) -> None:
    result = call("check-invariants", file, "--select", "dangling-implementation,guard", "--format", "json")
    assert (result.code, result.err) == (1, "")
    document = json.loads(result.out)
    (finding,) = document["findings"]
    assert len(finding["fingerprint"]) == 32
    assert (document["operators"], document["fail_on"], document["failed"]) == (3, "warning", True)
    assert document["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert [(row["id"], row["ran"]) for row in document["checks"]] == [
        ("dangling-implementation", True),
        ("guard", True),
    ]
    assert (finding["check"], finding["operator"], finding["key"]) == ("dangling-implementation", "demo::lost", None)
    assert finding["details"] == {"keys": "CPU"}
    assert finding["declared_at"] == {"file": "a.yaml", "line": 12, "column": 16}


def test_findings_raw() -> None:
    result = call("check-invariants", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw")
    registrations = call("register", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw").out
    table = call("table", "examples/stale.yaml", "--op", "stale::quantized", "--format", "raw").out
    assert result.code == 1
    assert result.out == (f"Canonical state\n~~~~~~~~~~~\n{registrations}\n\nComputed table:\n~~~~~~~~~~~\n{table}")


def test_the_fields_are_as_recorded() -> None:
    assert field_list().splitlines() == FIELDS.read_text(encoding="utf-8").splitlines()


REPORTS = report_types()


@pytest.mark.parametrize("name", REPORTS)
def test_it_is_a_schema_that_leaves_nothing_open(name: str) -> None:
    result = call("schema", name)
    schema = json.loads(result.out)
    assert schema == report_schema(REPORTS[name])
    meta.validate(schema)
    assert list(Draft202012Validator(schema).iter_errors({}))
    objects = [schema, *schema["$defs"].values()]
    for shape in (shape for object_ in objects for shape in object_.get("anyOf", [object_])):
        assert shape["additionalProperties"] is False and shape["required"] == list(shape["properties"])
