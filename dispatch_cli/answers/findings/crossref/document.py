"""A comparison with PyTorch: how much agrees, and what does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.answers.findings.crossref.report import CrossrefReport, FoldedDifference, folded
from dispatch_cli.crossref.answers import Compared, Disagreement
from dispatch_cli.crossref.compare import Count
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, ParagraphKind, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import count_cell, plural, runs_label

_PARTS = {
    Compared.OPERATOR: "Operators",
    Compared.DUMP: "Registration dumps",
    Compared.TABLE: "Table slots",
    Compared.INVARIANTS: "Invariants",
    Compared.RESOLVE_KEY: "resolve_key answers",
    Compared.HIGHER_ORDER: "Slots of higher-order operators",
}


def document(report: CrossrefReport, *, slots: Sequence[str]) -> Iterator[Block]:
    """Document: the counts, the differences by operator, and the result.

    slots: of the engine's tables, in order.
    """
    places = {key: place for place, key in enumerate(slots)}
    yield Paragraph(f"The engine and {report.source}", kind=ParagraphKind.TITLE)
    yield TableBlock(COUNTS, report.counts)
    yield Gap()
    for operator, differences in folded(report, places):
        yield Paragraph(operator or "-", kind=ParagraphKind.SECTION)
        yield TableBlock(DIFFERENCES, differences, indent=2)
        yield Gap()
    yield Paragraph(result(report, len(slots)))


COUNTS: list[Column[Count]] = [
    Column("", lambda count, _: _PARTS[count.part]),
    Column("Compared", lambda count, _: f"{count.compared:,}", right=True),
    Column("Equal", lambda count, _: f"{count.compared - count.different:,}", right=True),
    Column("Different", lambda count, _: count_cell(count.different, Tone.BAD), right=True),
]
DIFFERENCES: list[Column[FoldedDifference]] = [
    Column("What", lambda row, _: row.part.value),
    Column("Key", lambda row, _: runs_label(row.keys)),
    Column("The engine", lambda row, _: _said(row.ours)),
    Column("PyTorch", lambda row, _: _said(row.theirs)),
]


def _said(text: str | None) -> str:
    return "-" if text is None else text


def result(report: CrossrefReport, slots: int) -> Run:
    """Result of the comparison, in one sentence. slots: number of slots in a table of the engine."""
    counts = {count.part: count for count in report.counts}
    compared = plural(counts[Compared.OPERATOR].compared, "operator")
    if Compared.HIGHER_ORDER in counts:
        compared += f" and {plural(counts[Compared.HIGHER_ORDER].compared // slots, 'higher-order operator')}"
    if report.equal:
        return Run(f"Equal: {compared} ({report.universe})", Tone.KERNEL)
    others = {difference.operator for difference in report.differences if difference.part is Compared.HIGHER_ORDER}
    different = counts[Compared.OPERATOR].different + len(others)
    number = plural(len(report.differences), "difference")
    return Run(f"{number} in {different:,} of {compared} ({report.universe})", Tone.BAD)


def sheet(report: CrossrefReport) -> Sheet:
    """One row per difference."""
    return Sheet(Disagreement._fields, report.differences)
