"""Cells of CSV that a spreadsheet would take for formulas."""

from __future__ import annotations

import pytest

from dispatch_cli.answers.coverage.needs import BackendNeed
from dispatch_cli.render.sheet import Sheet, csv_text


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1", "'=1"),
        ("a;=HYPERLINK(1)", "a;'=HYPERLINK(1)"),
        (";+1;-1", ";'+1;'-1"),
        ('a;"=1"', '"a;\'""=1"""'),
        ("a; b;c", "a; b;c"),
    ],
)
def test_a_semicolon_can_part_cells(cell: str, written: str) -> None:
    """Spreadsheets take it for the separator where a comma belongs to numbers."""
    assert "".join(csv_text(Sheet(("a",), [(cell,)]))) == f"a\n{written}\n"
    quoted = '"' in cell
    assert "".join(csv_text(Sheet(("a",), [(cell,)]), exact=True)) == (
        "a\n" + ('"a;""=1"""' if quoted else cell) + "\n"
    )


def test_a_cell_of_enums_has_their_values() -> None:
    row = ((BackendNeed.NEW, BackendNeed.SCHEMA), BackendNeed.NEW, ())
    assert "".join(csv_text(Sheet(("a", "b", "c"), [row]))) == "a,b,c\nnew schema-changed,new,\n"
