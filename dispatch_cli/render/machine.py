"""Machine formats: JSON with a schema version, CSV, Markdown. None of them passes through rich.

Each report becomes a sheet (named columns and rows) for CSV and Markdown, and a document for JSON.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from dispatch_cli.model.origin import Origin
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from dispatch_cli.render.text_safety import safe


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of one shape; the rows are computed as they are read."""

    columns: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]


def json_document(head: dict[str, Any], list_name: str, items: Iterable[Any]) -> Iterator[str]:
    """A JSON object: the fields of *head*, then a list, written item by item so that a long one is never held whole."""
    text = json.dumps(head, indent=2)
    yield text[: text.rindex("\n")] + f",\n  {json.dumps(list_name)}: ["
    empty = True
    for item in items:
        body = json.dumps(item, indent=2).replace("\n", "\n    ")
        yield ("" if empty else ",") + "\n    " + body
        empty = False
    yield "]\n}\n" if empty else "\n  ]\n}\n"


def csv_text(sheet: Sheet) -> Iterator[str]:
    """RFC 4180 with a header line; lines end in a line feed. Control characters are spelled out."""
    for row in chain((sheet.columns,), sheet.rows):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow([safe(value) for value in row])
        yield buffer.getvalue()


def markdown_text(sheet: Sheet) -> Iterator[str]:
    """A table of GitHub's Markdown; cells are code where they are names, and never markup."""
    yield "| " + " | ".join(sheet.columns) + " |\n"
    yield "| " + " | ".join("---" for _ in sheet.columns) + " |\n"
    for row in sheet.rows:
        yield "| " + " | ".join(_cell(value) for value in row) + " |\n"


def markdown_line(form: str, text: str) -> str:
    """A line of Markdown: *form*, with the untrusted *text* in the place of ``{}``."""
    return form.replace("{}", _cell(text)) + "\n"


_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~#"})


def _cell(value: str) -> str:
    return safe(value).translate(_MARKDOWN)


def span_data(span: Span | None) -> dict[str, Any] | None:
    """A place as JSON data."""
    return None if span is None else {"file": span.file, "line": span.line, "column": span.column}


def origin_data(origin: Origin) -> dict[str, Any]:
    """Through what a declaration came: the embedded state that it is from, and the entries of ``extends``."""
    return {"state": origin.state, "through": [span_data(span) for span in origin.through]}


def related_data(related: Iterable[Related]) -> list[dict[str, Any]]:
    """Related places as JSON data."""
    return [{"message": one.message, "place": span_data(one.span)} for one in related]


def place_text(span: Span | None) -> str:
    """A place in a cell."""
    return "" if span is None else str(span)
