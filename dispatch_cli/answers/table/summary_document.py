"""Many tables at a glance: one row per operator, with how many slots each rule fills."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from dispatch_cli.answers.table.report import TableSummaryReport
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import count_cell, plural, rule_tone

SHORT = 4
"""Letters of a header of numbers where there is little room."""


class CountColumn(NamedTuple):
    """A column of counts. of: the count of a row."""

    header: str
    tone: Tone
    of: Callable[[Any], int]


def document(report: TableSummaryReport, _: int | None = None) -> Iterator[Block]:
    """Number of slots that each rule fills, that are stale, and that differ from the base.

    A row per operator, then a row per higher-order operator.
    """
    counts = [
        *(CountColumn(rule.value, rule_tone(rule), partial(_of_slots, rule)) for rule in Rule),
        CountColumn("stale", Tone.BAD, attrgetter("stale")),
        CountColumn("changed", Tone.WARN, attrgetter("changed")),
    ]
    operators, others = [*report.operators], report.higher_order_operators
    if operators or not others:
        yield _table("Operator", "operator", counts, operators)
        yield Gap()
        yield Paragraph(Run(f"{plural(len(operators), 'operator')}, {report.universe}; slots by rule", Tone.DIM))
    if others:
        if operators:
            yield Gap()
        slots = [CountColumn(slot.value, Tone.PLAIN, partial(_of_slots, slot)) for slot in Slot]
        yield _table("Higher-order operator", "name", slots, others)
        yield Gap()
        closing = f"{plural(len(others), 'higher-order operator')}, {report.universe}"
        yield Paragraph(Run(f"{closing}; slots by what a call finds there", Tone.DIM))


def _table(title: str, name: str, counts: Sequence[CountColumn], rows: Sequence[Any]) -> TableBlock[Any]:
    """A row for each operator, with the counts of which there are any. name: the field with an operator's name."""
    names: Column[Any] = Column(title, lambda row, _: str(getattr(row, name)))
    numbers = [_numbers(count) for count in counts if any(map(count.of, rows))]
    cut = ", ".join(f"{number.short_header}: {number.header.lower()}" for number in numbers if number.short_header)
    return TableBlock([names, *numbers], rows, narrow_note=Run(cut, Tone.DIM))


def _numbers(count: CountColumn) -> Column[Any]:
    header = count.header.replace("-", " ").capitalize()
    short = header[:SHORT] if len(header) > SHORT else ""
    return Column(header, lambda row, _: count_cell(count.of(row), count.tone), right=True, short_header=short)


def _of_slots(kind: Rule | Slot, row: Any) -> int:
    number: int = row.slots[kind]
    return number


def sheet(report: TableSummaryReport) -> Sheet:
    """Sheet with a row for each operator."""
    return Sheet(("operator", *(rule.value for rule in Rule), "stale", "changed", "declared_at"), _cells(report))


def _cells(report: TableSummaryReport) -> Iterator[tuple[object, ...]]:
    for operator in report.operators:
        yield (operator.operator, *operator.slots.values(), operator.stale, operator.changed, operator.span)
    for other in report.higher_order_operators:
        yield (other.name, *other.by_rule.values(), 0, 0, other.span)
