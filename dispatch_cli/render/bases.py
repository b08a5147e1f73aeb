"""The embedded states: a row for each."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.bases import Description
from dispatch_cli.render.document import Block, Column, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.report.bases import BasesReport


def document(report: BasesReport, _: int | None = None) -> Iterator[Block]:
    """One row per state."""
    yield TableBlock(COLUMNS, report.bases) if report.bases else Paragraph(Run("No state is embedded.", Tone.DIM))


COLUMNS: list[Column[Description]] = [
    Column("Name", lambda one, _: one.name),
    Column("PyTorch", lambda one, _: one.torch),
    Column("Operators", lambda one, _: str(one.operators), right=True),
    Column("Kernels", lambda one, _: str(one.kernels), right=True),
    Column("Higher-order", lambda one, _: str(one.higher_order_operators), right=True),
    Column("Size", lambda one, _: f"{one.bytes / 1024:.0f} KiB", right=True),
]


def sheet(report: BasesReport) -> Sheet:
    """One row per state."""
    return Sheet(Description._fields, report.bases)
