"""The registrations of operators in their order, one row each."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.table.registrations.order import OrderedRegistration, RegistrationOrderReport
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import kernel_runs, over_label, place_cell, plural

_CAPTURED = (
    "Those of embedded states and captures come first, as in PyTorch's dump: their order between keys is not known."
)


def document(report: RegistrationOrderReport, _: int | None = None) -> Iterator[Block]:
    """Each operator with its registrations."""
    operators = registrations = captured = 0
    for operator in report.operators:
        rows = [*enumerate(operator.registrations, 1)]
        yield Paragraph(Run(operator.operator, Tone.HEAD), kind=ParagraphKind.TITLE)
        yield Gap()
        yield TableBlock(COLUMNS, rows) if rows else Paragraph("Nothing is registered.")
        yield Gap()
        operators += 1
        registrations += len(rows)
        captured += sum(registration.captured for _, registration in rows)
    if captured:
        yield Paragraph(Run(_CAPTURED, Tone.DIM))
    counted = f"{plural(operators, 'operator')}, {plural(registrations, 'registration')}"
    yield Paragraph(Run(f"{counted}, {over_label(report)}.", Tone.DIM))


def _key(row: tuple[int, OrderedRegistration], _: bool) -> Inline:
    return f"{row[1].key} (in Python)" if row[1].python else row[1].key


def _kernel(row: tuple[int, OrderedRegistration], short: bool) -> Inline:
    _, registration = row
    return kernel_runs(registration.kernel, registration.fallthrough, registration.span, short, Tone.KERNEL)


COLUMNS: list[Column[tuple[int, OrderedRegistration]]] = [
    Column("", lambda row, _: str(row[0]), right=True),
    Column("Key", _key),
    Column("Kernel", _kernel, Under("Key")),
    Column("When", lambda row, _: row[1].when or "", Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row[1].span), Narrow.BELOW, optional=True),
]


def sheet(report: RegistrationOrderReport) -> Sheet:
    """Sheet with a row for each registration."""
    rows = (
        (operator.operator, number, row.key, row.python, row.kernel, row.fallthrough, row.captured, row.span, row.when)
        for operator in report.operators
        for number, row in enumerate(operator.registrations, 1)
    )
    columns = ("operator", "number", "key", "python", "kernel", "fallthrough", "captured", "declared_at", "when")
    return Sheet(columns, rows)
