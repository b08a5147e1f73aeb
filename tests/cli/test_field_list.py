"""The JSON and CSV reports have the fields that are recorded; see `tests.cli.field_list`."""

from __future__ import annotations

import os

import pytest

from tests.cli.field_list import FIELDS, field_list, types_of


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
