"""The slots at which Python's ``resolve_key`` chooses another key than the C++ table, and why."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.findings.crossref.divergence_wording import REASONS, because_of, choice_label
from dispatch_cli.answers.shared.divergences import DivergenceGroup, SlotChoice, by_reason, groups_of
from dispatch_cli.answers.table.differences import PythonDifferencesReport
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, Run, TableBlock, Tone, Under
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import plural, runs_label


def document(report: PythonDifferencesReport, *, universe: Universe) -> Iterator[Block]:
    """A row for slots that are decided alike, then the reasons and the counts."""
    operators = [*report.operators]
    compared = plural(report.compared, "operator")
    if not operators:
        closing = f"Python's resolve_key chooses the C++ table's key everywhere: {compared} ({report.universe})"
        yield Paragraph(Run(closing, Tone.KERNEL))
        return
    groups = [
        ("" if number else operator.operator, group)
        for operator in operators
        for number, group in enumerate(groups_of(operator.slots, universe.slot))
    ]
    yield TableBlock(DIFFERENCES, groups)
    yield Gap()
    everything = [(operator.operator, slot) for operator in operators for slot in operator.slots]
    for count in by_reason(everything):
        counted = f"{plural(count.slots, 'slot')} of {plural(count.operators, 'operator')}"
        yield Paragraph((Run(f"{REASONS[count.reason]}: ", Tone.HEAD), Run(counted)))
    slots, those = plural(len(everything), "slot"), plural(len(operators), "operator")
    yield Paragraph(Run(f"{slots} of {those} differ; {compared} compared ({report.universe})", Tone.DIM))


def _chosen_by(who: str, choice: SlotChoice, short: bool) -> str:
    return f"{who} chooses {choice_label(choice)}" if short else choice_label(choice)


DIFFERENCES: list[Column[tuple[str, DivergenceGroup]]] = [
    Column("Operator", lambda row, _: row[0]),
    Column("Key", lambda row, _: runs_label(row[1].keys)),
    Column("C++", lambda row, short: _chosen_by("C++", row[1].cpp, short), Under("Key")),
    Column("Python", lambda row, short: Run(_chosen_by("Python", row[1].python, short), Tone.WARN), Under("Key")),
    Column(
        "Because of",
        lambda row, short: f"{'because of ' if short else ''}{because_of(row[1])}",
        Under("Key"),
    ),
]


def sheet(report: PythonDifferencesReport) -> Sheet:
    """Every slot that is decided otherwise a row."""
    columns = ("operator", "key", "cpp_rule", "cpp_source", "python_rule", "python_source", "reason", "because")
    rows = (
        (operator.operator, slot.key, *slot.cpp, *slot.python, slot.reason, slot.because)
        for operator in report.operators
        for slot in operator.slots
    )
    return Sheet(columns, rows)
