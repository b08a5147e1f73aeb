"""The JSON Schemas of the reports: every report has one, and every field of a report is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator, meta

from dispatch_cli.cli.report_schemas import report_schema, report_types
from tests.cli.field_list import FIELDS
from tests.cli.support import call

REPORTS = report_types()
ROOT = Path(__file__).parents[2]


def test_there_is_one_for_every_report() -> None:
    listed = {
        line.split(",")[0].removeprefix("JSON ") for line in FIELDS.read_text().splitlines() if line[:5] == "JSON "
    }
    assert listed - {"baseline"} == set(REPORTS)


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


def test_an_unknown_report() -> None:
    result = call("schema", "tabel")
    assert (result.code, result.out) == (2, "")
    assert "there is no report 'tabel'; did you mean table?" in result.err
