"""The guards of a state: a row for each, and what is not as it wants it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.answers.findings.guards.report import GuardRow, GuardsReport, GuardStatus
from dispatch_cli.render.document import Block, Column, Gap, Inline, Narrow, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import place_cell, plural

FEW = 4
"""Number of operators or keys that are named; of more, the first and the last."""
BAD = (GuardStatus.BROKEN, GuardStatus.GUARDS_NOTHING)


def document(report: GuardsReport) -> Iterator[Block]:
    """A row for each guard, and the count."""
    suppressed = _suppressed(report)
    if not report.guards:
        yield Paragraph(outcome(report))
        return
    yield TableBlock(COLUMNS, report.guards)
    yield Gap()
    yield Paragraph(outcome(report))
    if report.failing:
        yield Paragraph(Run("`dispatch-cli check-invariants --select guard,unmatched-guard` shows where.", Tone.DIM))
    if suppressed:
        yield Paragraph(Run(f"{suppressed} suppressed, as in check-invariants", Tone.DIM))


def outcome(report: GuardsReport) -> Run:
    """Number of guards that hold, in one sentence."""
    count, suppressed = len(report.guards), _suppressed(report)
    bad = sum(row.verdict in BAD for row in report.guards)
    guards, holding = plural(count, "guard"), count - suppressed
    if not count:
        return Run(f"No guards ({report.universe})", Tone.DIM)
    if bad:
        return Run(f"{bad} of {guards} {'does' if bad == 1 else 'do'} not hold ({report.universe})", Tone.BAD)
    if suppressed:
        return Run(
            f"{holding} of {guards} {'holds' if 1 in (holding, count) else 'hold'} ({report.universe})", Tone.KERNEL
        )
    return Run(f"{'It holds' if count == 1 else 'All hold'}: {guards} ({report.universe})", Tone.KERNEL)


def _suppressed(report: GuardsReport) -> int:
    return sum(row.verdict is GuardStatus.SUPPRESSED for row in report.guards)


def title(row: GuardRow) -> str:
    """Title of a guard, in one line; long lists by their ends."""
    keys = "" if not row.keys else f" at {_ends(row.keys)}"
    keys += f" except {_ends(row.excepted)}" if row.excepted else ""
    return f"{_ends(row.ops)}{keys}: {row.text}"


def _ends(texts: Sequence[str]) -> str:
    return ", ".join(texts) if len(texts) <= FEW else f"{texts[0]} … {texts[-1]} ({len(texts)})"


def _verdict(row: GuardRow, _: bool) -> Inline:
    tone = Tone.BAD if row.verdict in BAD else Tone.DIM if row.verdict is GuardStatus.SUPPRESSED else Tone.KERNEL
    return Run(row.verdict.value.replace("-", " "), tone)


def _about(row: GuardRow, _: bool) -> Inline:
    operators = plural(row.operators, "operator")
    return f"{operators}, {plural(row.slots, 'slot')}" if row.slots else operators


COLUMNS: list[Column[GuardRow]] = [
    Column("", _verdict),
    Column("Guard", lambda row, _: title(row)),
    Column("Applies to", _about),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW),
]


def sheet(report: GuardsReport) -> Sheet:
    """One row per guard."""
    rows = ((row.verdict, title(row), row.operators, row.slots, row.broken_count, row.span) for row in report.guards)
    return Sheet(("verdict", "guard", "operators", "slots", "broken", "declared_at"), rows)
