"""The embedded states: a row for each."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.sources.bases import BasesReport
from dispatch_cli.bases import Description
from dispatch_cli.bases.overlay import OverlayDescription
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet


def document(report: BasesReport) -> Iterator[Block]:
    """One row per state, and one per overlay."""
    yield TableBlock(COLUMNS, report.bases) if report.bases else Paragraph(Run("No state is embedded.", Tone.DIM))
    if report.overlays:
        yield Gap()
        yield Paragraph(f"Overlays, such as --base {report.overlays[0].over} --base {report.overlays[0].name}:")
        yield Gap()
        yield TableBlock(OVERLAYS, report.overlays)
        yield Gap()
        yield Paragraph(Run(INCOMPLETE, Tone.DIM))


COLUMNS: list[Column[Description]] = [
    Column("Name", lambda row, _: row.name),
    Column("PyTorch", lambda row, _: row.torch),
    Column("Operators", lambda row, _: str(row.operators), right=True),
    Column("Kernels", lambda row, _: str(row.kernels), right=True),
    Column("Higher-order", lambda row, _: str(row.higher_order_operators), right=True),
    Column("Size", lambda row, _: f"{row.bytes / 1024:.0f} KiB", right=True),
]
OVERLAYS: list[Column[OverlayDescription]] = [
    Column("Name", lambda row, _: row.name),
    Column("What it is", lambda row, _: f"overlay for {row.over}, {row.backend}, incomplete"),
    Column("Operators", lambda row, _: str(row.operators), right=True),
    Column("Kernels", lambda row, _: str(row.kernels), right=True),
    Column("Size", lambda row, _: f"{row.bytes / 1024:.0f} KiB", right=True),
]
INCOMPLETE = (
    "An overlay has the kernels that torchgen generates for a backend. Those that PyTorch registers by hand are not in "
    "it: where it has none, what a slot holds is not known."
)


def sheet(report: BasesReport) -> Sheet:
    """One row per state, then one per overlay."""
    states = [(*base, None, None) for base in report.bases]
    overlays = [
        (
            *(row.name, row.over, row.torch, None, row.backend, row.operators, row.kernels, 0, row.bytes),
            *(row.over, row.incomplete),
        )
        for row in report.overlays
    ]
    return Sheet((*Description._fields, "overlay_for", "incomplete"), (*states, *overlays))
