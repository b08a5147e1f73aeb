"""Sheets: rows of one shape as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple

from dispatch_cli.render.data import data_of
from dispatch_cli.render.text_safety import safe


class Sheet(NamedTuple):
    """Columns by name, and rows, which are computed as they are read.

    A cell is a text, a number, a bool (``true`` or ``false``), an enum (its value), a place, a tuple of texts (with a
    blank between two), or None (empty).
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[object, ...]]


def csv_text(sheet: Sheet) -> Iterator[str]:
    """RFC 4180 with a header line; lines end in a line feed. Control characters are spelled out."""
    import csv

    for row in chain((sheet.columns,), sheet.rows):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow([_cell(value) for value in row])
        yield buffer.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, str):
        return safe(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return _cell(value.value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return safe(" ".join(map(str, value)))
    return safe(str(value))


def fact_sheet(report: object) -> Sheet:
    """A row for each field of a report that has no rows of one shape."""
    return Sheet(("fact", "value"), ((name, _fact(value)) for name, value in data_of(report).items()))


def _fact(value: Any) -> object:
    """A value of JSON in a cell; a sentence stands for what it is about."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    if isinstance(value, list):
        return "; ".join(str(_fact(one)) for one in value)
    if isinstance(value, dict):
        parts = ((name, _cell(_fact(one))) for name, one in value.items() if one != [])
        return value.get("text") or ", ".join(f"{name} {part}" for name, part in parts)
    return value
