"""Places in tables of slots other than the C++ one: what Python chooses, and higher-order operators."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.explain.wording import python_phrase
from dispatch_cli.answers.findings.crossref.divergence_wording import choice_label
from dispatch_cli.answers.findings.crossref.divergences import DivergenceGroup
from dispatch_cli.answers.table.higher_order import document as higher_order
from dispatch_cli.answers.table.higher_order.report import ImplRow
from dispatch_cli.answers.table.python import differences_document as python_differences
from dispatch_cli.answers.table.python import document as python_table
from dispatch_cli.answers.table.python.report import PythonDifferencesReport, PythonRow, PythonTableReport
from dispatch_cli.answers.table.report import TableReport
from dispatch_cli.explore.cells_view import ShownKeys
from dispatch_cli.explore.table_rows import place_of_slots, several, slot_of
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block


def document_of(
    report: TableReport | PythonTableReport | PythonDifferencesReport, universe: Universe, full: bool
) -> list[Block]:
    """The tables of an answer. full: with a row for each slot."""
    if isinstance(report, PythonDifferencesReport):
        return [*python_differences.document(report, universe=universe)]
    if isinstance(report, PythonTableReport):
        return [*python_table.document(report, full=full)]
    return [*higher_order.tables(report.higher_order_operators, full)]


def place_of(item: object) -> ShownKeys | None:
    """Place that a row leads to: of slots, of slots that C++ and Python decide otherwise, or of an implementation."""
    if isinstance(item, ImplRow):
        # as ``explain`` names it
        return ShownKeys((f"{item.kind.value}={item.name}",) if item.name else tuple(item.registered_at), item)
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], DivergenceGroup):
        return ShownKeys(item[1].keys.keys, item[1])
    return place_of_slots(item)


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
