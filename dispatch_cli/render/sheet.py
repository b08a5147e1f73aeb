"""Sheets: rows of one shape as CSV."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import NamedTuple

from dispatch_cli.render.printed import safe


class Sheet(NamedTuple):
    """Columns by name, and rows, which are computed as they are read.

    A cell is a text, a number, a bool (``true`` or ``false``), an enum (its value), a place, a tuple of texts or enums
    (with a blank between two), or None (empty).
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[object, ...]]


FORMULA_STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""First letters of a text that a spreadsheet takes for a formula, which can run programs and send data; the last four
are wide forms of the first."""
TEXT_MARK = "'"
"""Mark before such a text: spreadsheets then take the cell for a text, and do not show the mark."""
_NEXT_FORMULA = re.compile(f';(?="*[{re.escape("".join(sorted(FORMULA_STARTS)))}])')
"""Separator before a text that begins a cell where spreadsheets take ``;`` for a separator; quotes may be around it."""
CHUNK = 1 << 16
"""Characters that are written at once."""


def csv_text(sheet: Sheet, exact: bool = False) -> Iterator[str]:
    """RFC 4180 with a header line; lines end in a line feed. Control characters are spelled out.

    exact: no cell has a mark that keeps a spreadsheet from taking it for a formula.
    """
    import csv

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in chain((sheet.columns,), sheet.rows):
        cells = [value if type(value) is str and value.isprintable() else _cell(value) for value in row]
        if not exact:
            cells = [_NEXT_FORMULA.sub(f";{TEXT_MARK}", cell) if ";" in cell else cell for cell in cells]
            cells = [TEXT_MARK + cell if cell[:1] in FORMULA_STARTS else cell for cell in cells]
        writer.writerow(cells)
        if buffer.tell() > CHUNK:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, Enum):
        return _cell(value.value)
    if type(value) is tuple:
        value = " ".join(str(item.value if isinstance(item, Enum) else item) for item in value)
    return safe(str(value))
