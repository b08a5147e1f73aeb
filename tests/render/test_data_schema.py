"""The JSON Schemas of the reports; `tests.cli.support.call` holds every JSON answer against them."""

from __future__ import annotations

import json

import pytest
from jsonschema_rs import Draft202012Validator, meta

from dispatch_cli.cli.report_schemas import report_schema, report_types
from tests.cli.support import call

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


def test_an_unknown_report() -> None:
    result = call("schema", "tabel")
    assert (result.code, result.out) == (2, "")
    assert "there is no report 'tabel'; did you mean table?" in result.err
