"""Sheets: rows of one shape as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import NamedTuple

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
