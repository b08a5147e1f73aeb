"""Tables of slots other than the C++ one: what Python chooses, and higher-order operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dispatch_cli.answers.explain.wording import python_phrase
from dispatch_cli.answers.findings.crossref.divergence_wording import choice_label
from dispatch_cli.answers.shared.folding import unfolded
from dispatch_cli.answers.table.higher_order import document as higher_order
from dispatch_cli.answers.table.higher_order.report import ASIDE, HigherOrderSlots, ImplRow, asked_impls, fold_slots
from dispatch_cli.answers.table.higher_order.wording import slot_label
from dispatch_cli.answers.table.python import differences_document as python_differences
from dispatch_cli.answers.table.python import document as python_table
from dispatch_cli.answers.table.python.report import OperatorDifferences, PythonRow, PythonTable, fold_python
from dispatch_cli.explore.cells_view import ShownKeys, ShownSlots
from dispatch_cli.explore.table_layout import laid_out
from dispatch_cli.explore.table_rows import few_lines, lines_of, places_of, several, slot_of, title_lines, whole_table
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Column, Narrow, Run, Tone
from dispatch_cli.render.text import parts_of
from dispatch_cli.render.text_lines import GAP, line_width, shown_lines, width_of
from dispatch_cli.render.words import aside_lines, keys_label


def python_rows(shown: PythonTable, every: bool, width: int) -> ShownSlots:
    """Rows of the choices of Python's ``resolve_key`` for an operator."""
    folding = unfolded(shown.entries) if every else fold_python(shown.entries)
    columns = python_table.columns(folding)[1:]
    marks = ["*" if run.answer.differs is not None else "" for run in folding.rows]
    rows = laid_out(columns, folding.rows, width, places_of(folding.rows), marks)
    asides = aside_lines((title, folding.aside.get(aside)) for aside, title in python_table.TITLES.items())
    title = [*title_lines(shown, width), [Run("what Python's resolve_key chooses", Tone.DIM)]]
    return whole_table(title, rows, (*asides, *python_table.reasons(shown)), width)


def other_sentences(place: ShownKeys, key: str | None) -> Iterator[str]:
    """Sentences on Python's choices at the slots of a row; none for other rows. key: of the slot where the user is."""
    if isinstance(place.row, PythonRow):
        here = slot_of(place, key)
        yield from several(place, here)
        row = place.row
        if row.error is None:
            yield f"At {here}, Python's resolve_key chooses {python_phrase(row, short=True)}."
        else:
            yield f"At {here}, Python's resolve_key raises an error: {row.error.rstrip('.')}."
            if row.differs is not None:
                yield f"C++ chooses {choice_label(row.differs.cpp)}."


def differing_rows(shown: OperatorDifferences, universe: Universe, width: int) -> ShownSlots:
    """The slots of an operator at which Python chooses another key."""
    groups = [("", group) for group in shown.groups(universe.slot)]
    places = [ShownKeys(group.keys.keys, group) for _, group in groups]
    below = python_differences.COLUMNS[2:]
    beside = [_headed(column) for column in below]
    used = max((width_of(keys_label(place.keys, True)) for place in places), default=0)
    count = 0  # so many columns have room beside the keys; the others are lines below these
    for column in beside:
        cells = (line_width(shown_lines(column.cell(group, False))[0]) for group in groups)
        used += GAP + max([width_of(column.header), *cells])
        count += used <= width
    count = count if count > 1 else 0  # C++ and Python are seen beside each other
    rows = laid_out([*beside[:count], *below[count:]], groups, width, places)
    title = [*few_lines(shown.operator, width), [Run("where Python's resolve_key chooses another key", Tone.DIM)]]
    return whole_table(title, rows, (), width)


def _headed(column: Column[Any]) -> Column[Any]:
    """A column that stays below its header, which its cells do not repeat."""
    return replace(column, narrow=Narrow.KEEP, cell=lambda row, _: column.cell(row, False))


def higher_order_rows(shown: HigherOrderSlots, every: bool, width: int) -> ShownSlots:
    """Rows of a higher-order operator: its answers to calls at each slot, and to modes, subclasses and transforms."""
    folding = unfolded(shown.entries) if every else fold_slots(shown.entries)
    title, *rest = [
        line for block in higher_order.heading(shown) for part in parts_of(block, width) for line in part.lines
    ]
    top = [title, *(line for line in rest[:1] if line)]
    rows = laid_out(higher_order.ENTRIES[1:], folding.rows, width, places_of(folding.rows))
    asides = tuple(aside_lines((slot_label(slot), folding.aside.get(slot)) for slot in ASIDE))
    table = whole_table(top, rows, (), width)
    others = asked_impls(shown.impls)
    if not others:
        return whole_table(top, rows, asides, width)
    columns = [column for column in higher_order.ASKED if column.header in ("Kernel", "Declared at")]
    asked = laid_out(columns, others, width, [ShownKeys(_names(other), other) for other in others], head="Asked for")
    lines = [*table.lines, [], asked.header]
    below = len(lines)
    moved = [target._replace(first=target.first + below, end=target.end + below) for target in asked.targets]
    return ShownSlots([*lines, *asked.lines, *lines_of(asides, width)], [*table.targets, *moved], table.top)


def _names(row: ImplRow) -> tuple[str, ...]:
    """The places of an implementation, as they are named to ``explain``."""
    if row.name:
        return (f"{row.kind.value}={row.name}",)
    return tuple(dict.fromkeys(row.registered_at))
