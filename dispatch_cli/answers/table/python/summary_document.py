"""Summary of the choices of Python's ``resolve_key``: one row per operator."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from dispatch_cli.answers.table.python.report import PythonSummaryReport
from dispatch_cli.answers.table.summary_document import CountColumn, rule_counts, summary
from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.document import Block, Tone
from dispatch_cli.render.sheet import Sheet


def document(report: PythonSummaryReport, _: int | None = None) -> Iterator[Block]:
    """Number of slots that each rule fills, and of those for which C++ chooses otherwise."""
    counts = [*rule_counts(lambda _: Tone.PLAIN), CountColumn("C++ differs", Tone.WARN, attrgetter("differs"))]
    return summary(report, counts, "slots by the rule of Python's resolve_key")


def sheet(report: PythonSummaryReport) -> Sheet:
    """Sheet with a row for each operator."""
    return Sheet(("operator", *(rule.value for rule in Rule), "differs", "declared_at"), _cells(report))


def _cells(report: PythonSummaryReport) -> Iterator[tuple[object, ...]]:
    for operator in report.operators:
        yield (operator.operator, *operator.slots.values(), operator.differs, operator.span)
    for other in report.higher_order_operators:
        yield (other.name, *other.by_rule.values(), 0, other.span)
