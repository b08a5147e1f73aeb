"""Every field of every JSON report with its type, and the header of every CSV report, as one text.

``python -m tests.cli.field_list`` writes the text to ``fields/fields.txt``, and a test compares it: a field that is
added, removed, renamed or changes its type is a changed line. A change that is meant is written anew and named in the
CHANGELOG.

The fields are those of the reports' JSON Schemas, by which every test that reads JSON checks it. A type that stands in
several reports is listed once.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dispatch_cli.cli.report_schemas import report_schema, report_types
from dispatch_cli.render.data import SCHEMA_VERSION
from tests.cli.support import ROOT, call
from tests.crossref.support import answer_of, doctored, python_that_answers

FIELDS = Path(__file__).parent / "fields" / "fields.txt"
SHEETS = """
bases
check-invariants examples/stale.yaml
checks
coverage MPS --base torch-2.15 --op 'aten::*softmax*'
coverage examples/out_of_tree_backend.yaml
crossref --python $TMP/python
diff tests/cli/diff_old.yaml tests/cli/diff_new.yaml
guards examples/scenarios/06_factory.fixed.yaml
history aten::ones
keys
register examples/broken.yaml
register examples/custom_library.yaml
register examples/custom_library.yaml --key CPU
register examples/custom_library.yaml --view fallbacks
register examples/custom_library.yaml --view order
support examples/custom_ops.yaml --op pylib::normalize --device cpu
table examples/stale.yaml
table examples/stale.yaml --view summary
trace tests/trace/recordings/train.trace
trace tests/trace/recordings/train.trace --explain 18
"""
"""A command for each header."""

Json = dict[str, Any]


def type_of(schema: Json) -> str:
    """A type as one line: ``list of Place | null``, ``object of string``, ``"error" | "warning"``."""
    if "anyOf" in schema:
        return " | ".join(type_of(choice) for choice in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if schema["type"] == "array":
        items = [schema["items"]] if "items" in schema else schema["prefixItems"]
        return f"list of {', '.join(type_of(item) for item in items)}"
    return f"object of {type_of(schema['additionalProperties'])}" if schema["type"] == "object" else schema["type"]


def lines_of(name: str, schema: Json) -> Iterator[str]:
    """The fields of a record; a question mark is at those that only some of its shapes have."""
    shapes = [
        {field: described for field, described in shape["properties"].items() if "const" not in described}
        for shape in schema.get("anyOf", [schema])
    ]
    for field in dict.fromkeys(field for shape in shapes for field in shape):
        types = [type_of(shape[field]) for shape in shapes if field in shape]
        yield f"{name}.{field}{'?' * (len(types) < len(shapes))}: {' | '.join(dict.fromkeys(types))}"


def headers() -> Iterator[str]:
    """First lines of the CSV reports; a command that refuses its input ends the run."""
    with tempfile.TemporaryDirectory() as folder:
        python_that_answers(answer_of(doctored()), Path(folder))
        for line in SHEETS.replace("$TMP", folder).split("\n")[1:-1]:
            result = call(*shlex.split(line), "--format", "csv")
            if result.code > 1 and not result.out:
                sys.exit(f"{line}: {result.err}")
            yield f"{line.replace(folder, '$TMP')}: {result.out.splitlines()[0]}"


def field_list() -> str:
    """The whole text; run at the project's root."""
    lines = ["CSV", *headers(), "", f"JSON, schema version {SCHEMA_VERSION}"]
    types: Json = {}
    for name, kind in report_types().items():
        schema = report_schema(kind)
        types |= schema["$defs"]
        lines += lines_of(name, schema)
    lines += ["", "Types"]
    for name in sorted(types):
        lines += lines_of(name, types[name])
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    os.chdir(ROOT)
    FIELDS.write_text(field_list(), encoding="utf-8")
