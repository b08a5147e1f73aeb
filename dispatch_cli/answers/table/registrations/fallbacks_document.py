"""The backend fallbacks, one row each."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.table.registrations.fallbacks import BackendFallback, BackendFallbacksReport
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
from dispatch_cli.render.words import (
    inherited_lines,
    kernel_runs,
    origins_of,
    over_label,
    place_cell,
    plural,
)


def document(report: BackendFallbacksReport, _: int | None = None) -> Iterator[Block]:
    """Number of backend fallbacks, then each of them."""
    count = len(report.fallbacks)
    own = sum(fallback.core for fallback in report.fallbacks)
    whose = f", {own} of them PyTorch's own" if own else ""
    yield Paragraph((Run(plural(count, "backend fallback"), Tone.HEAD), Run(whose)), kind=ParagraphKind.TITLE)
    over = over_label(report)
    yield Paragraph(Run(f"They serve all operators, at keys that nothing else fills; {over}.", Tone.DIM))
    if report.fallbacks:
        yield Gap()
        yield TableBlock(COLUMNS, report.fallbacks)
    if lines := inherited_lines(dict.fromkeys(origins_of(*report.fallbacks))):
        yield Gap()
        yield from (Paragraph(Run(line, Tone.DIM)) for line in lines)


def _kernel(row: BackendFallback, short: bool) -> Inline:
    return kernel_runs(row.kernel, row.fallthrough, row.span, short, Tone.FALLBACK)


COLUMNS: list[Column[BackendFallback]] = [
    Column("Key", lambda row, _: row.key),
    Column("Kernel", _kernel, Under("Key")),
    Column("When", lambda row, _: row.when or "", Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
]


def sheet(report: BackendFallbacksReport) -> Sheet:
    """Sheet with a row for each backend fallback."""
    columns = ("key", "kernel", "fallthrough", "core", "declared_at", "when")
    rows = ((row.key, row.kernel, row.fallthrough, row.core, row.span, row.when) for row in report.fallbacks)
    return Sheet(columns, rows)
