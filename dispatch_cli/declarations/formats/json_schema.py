"""The format as a JSON Schema, so that editors complete and check declaration files."""

from __future__ import annotations

from typing import Any

from dispatch_cli import universes
from dispatch_cli.declarations.formats.file_format import FILE
from dispatch_cli.declarations.formats.format import RECORDS
from dispatch_cli.declarations.formats.format_types import CATCH_ALL, Field, Record
from dispatch_cli.model.universe import UNDEFINED


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a declaration file.

    It says what can be said without reading schemas and names: dispatch keys are those of the embedded universes, or
    any word, since a universe of one's own may have others.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dispatch-cli declarations",
        **_record(FILE),
        "$defs": {**{record.name: _record(record) for record in RECORDS if record is not FILE}, **_keys()},
    }


def _record(record: Record) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "description": record.doc,
        "type": "object",
        "properties": {field.name: _field(field) for field in record.fields},
        "additionalProperties": False,
    }
    if record.required:
        schema["required"] = [field.name for field in record.required]
    if record.one_of:
        schema["anyOf"] = [{"required": [name]} for name in record.one_of]
    return schema


def _field(field: Field) -> dict[str, Any]:
    default = f" Default: {field.default}." if field.default is not None else ""
    return {"description": field.doc + default, **field.type.json}


def _keys() -> dict[str, Any]:
    known = [universes.load(name) for name in universes.names()]
    slots = {key for universe in known for key in universe.parseable if key in universe.slot or key in universe.aliases}
    words = sorted((slots | {CATCH_ALL}) - {UNDEFINED})
    word = r"\s*[A-Za-z]\w*\s*"

    def key(description: str, pattern: str) -> dict[str, Any]:
        choices = [{"enum": words}, {"pattern": f"^{pattern}$"}]
        return {"description": description, "type": "string", "anyOf": choices, "not": {"const": UNDEFINED}}

    return {
        "dispatch_key": key("A dispatch key that PyTorch's parser knows.", word),
        "dispatch_keys": key("A dispatch key, or several separated by commas.", f"{word}(,{word})*"),
    }
