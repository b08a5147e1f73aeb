"""A comparison with PyTorch: how much agrees, what does not, and where C++ and Python differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dispatch_cli.answers.findings.crossref.divergence_wording import REASONS, because_of, choice_label
from dispatch_cli.answers.findings.crossref.report import CrossrefReport, FoldedDifference, PythonDivergences, folded
from dispatch_cli.answers.shared.divergences import DivergenceGroup, groups_of
from dispatch_cli.answers.shared.selection import some_of
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
    """Document: the counts, the differences by operator, the differences between C++ and Python, and the result.

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
    yield from _divergences(report.python, places)
    yield Paragraph(outcome(report, len(slots)))


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


def _divergences(python: PythonDivergences, places: Mapping[str, int]) -> Iterator[Block]:
    divergences = python.divergences
    if not divergences:
        yield Paragraph("Python's resolve_key chooses the C++ table's key everywhere.")
        yield Gap()
        return
    operators = plural(len({operator for operator, _ in divergences}), "operator")
    yield Paragraph(
        f"Python's resolve_key chooses another key than the C++ table at {plural(len(divergences), 'slot')} "
        f"of {operators}. PyTorch itself decides so; these are no differences:"
    )
    yield Gap()
    groups = groups_of(divergences, places)
    for count in python.reasons:
        counted = f": {plural(count.slots, 'slot')} of {plural(count.operators, 'operator')}"
        yield Paragraph((Run(REASONS[count.reason], Tone.HEAD), Run(counted)))
        for group in groups:
            if group.reason is count.reason:
                yield from _group(group)
        yield Gap()


def _group(group: DivergenceGroup) -> Iterator[Block]:
    because = because_of(group)
    chosen = f"C++ chooses {choice_label(group.cpp)}, Python {choice_label(group.python)}, because of {because}"
    yield Paragraph(f"{runs_label(group.keys)}: {chosen}", indent=2, hang=2)
    yield Paragraph(f"{plural(len(group.operators), 'operator')}: {some_of(group.operators)}", indent=6, hang=2)


def outcome(report: CrossrefReport, slots: int) -> Run:
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
