"""Table of the choices of Python's ``resolve_key`` for each slot."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dispatch_cli.answers.findings.crossref.divergence_wording import REASONS, because_of, choice_label
from dispatch_cli.answers.findings.crossref.divergences import DivergenceGroup, SlotChoice, by_reason
from dispatch_cli.answers.shared.folding import Folded, Folding, unfolded
from dispatch_cli.answers.table.higher_order.document import decided
from dispatch_cli.answers.table.python.report import (
    PythonDifferencesReport,
    PythonRow,
    PythonTable,
    PythonTableReport,
    fold_python,
)
from dispatch_cli.answers.table.report import Aside
from dispatch_cli.answers.table.wording import source_cell
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import Universe
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
    joined,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import (
    aside_lines,
    fallthrough_text,
    keys_label,
    place_cell,
    plural,
    runs_label,
    schema_label,
    short_function,
    short_kernel,
)

_MARK = "* "
TITLES = {
    Aside.CORE_FALLBACK: "The backend fallback (PyTorch's own)",
    Aside.MISSING: "Error, resolve_key finds no kernel",
}


def document(report: PythonTableReport, _: int | None = None, *, full: bool = False) -> Iterator[Block]:
    """Each operator's choices, folded unless *full*; those that C++ does not make are marked."""
    between = False
    for table in report.operators:
        if between:
            yield Gap()
        between = True
        yield Paragraph(schema_label(table.operator, table.schema), kind=ParagraphKind.TITLE)
        yield Paragraph(Run("what Python's resolve_key chooses", Tone.DIM))
        yield Gap()
        folding = unfolded(table.entries) if full else fold_python(table.entries)
        if folding.rows:
            yield TableBlock(columns(folding), folding.rows)
        yield from aside_lines((title, folding.aside.get(aside)) for aside, title in TITLES.items())
        yield from reasons(table)
    if report.higher_order_operators:
        from dispatch_cli.answers.table.higher_order.document import tables

        if between:
            yield Gap()
        yield from tables(report.higher_order_operators, full)


def columns(folding: Folding[PythonRow]) -> list[Column[Folded[PythonRow]]]:
    """The columns of a table."""
    differ = any(run.answer.differs is not None for run in folding.rows)

    def key(run: Folded[PythonRow], short: bool) -> Inline:
        mark = (_MARK if run.answer.differs is not None else " " * len(_MARK)) if differ else ""
        return mark + keys_label(run.keys, short)

    return [Column("Key", key), *COLUMNS]


def _kernel(run: Folded[PythonRow], short: bool) -> Inline:
    row = run.answer
    if row.python:
        name = row.kernel or ""
        return (Run("Python ", Tone.ALIAS), Run(short_function(name) if short else name))
    if row.kernel is None and row.error is None:
        return Run("?", Tone.DIM)
    if row.kernel is None:
        return Run(f"error: {row.rule.value if short else row.error}", Tone.BAD)
    if row.core_fallback:
        text = Run("PyTorch's own", Tone.DIM)
        return joined(Run("fallthrough ", Tone.WARN), text) if row.fallthrough else text
    if row.fallthrough:
        return joined(Run("fallthrough", Tone.WARN), fallthrough_text(row.kernel, row.span, short))
    return Run(short_kernel(row.kernel) if short else row.kernel)


def _chosen_by_cpp(run: Folded[PythonRow], short: bool) -> Inline:
    if run.answer.differs is None:
        return ""
    return Run(f"{'C++ chooses ' if short else ''}{choice_label(run.answer.differs.cpp)}", Tone.WARN)


def _rule(run: Folded[PythonRow], short: bool) -> Inline:
    return run.answer.rule.value if short else run.answer.rule.dump_text


COLUMNS: list[Column[Folded[PythonRow]]] = [
    Column("Kernel", _kernel),
    Column("Rule", _rule),
    Column("From", lambda run, short: source_cell(run.answer, short), narrow=Narrow.BELOW, optional=True),
    Column("C++ chooses", _chosen_by_cpp, Under("Kernel"), optional=True),
    Column("Declared at", lambda run, _: place_cell(run.answer.span), Narrow.BELOW, optional=True),
]


def reasons(table: PythonTable) -> Iterator[Block]:
    """Reasons why marked slots are not decided as in C++."""
    marked = [row.differs for row in table.entries if row.differs is not None]
    if marked:
        yield Gap()
    for (reason, because), run in groupby(marked, key=lambda row: (row.reason, row.because)):
        keys = keys_label(tuple(difference.key for difference in run))
        yield Paragraph(f"{_MARK}{keys}: {REASONS[reason]} ({', '.join(because)})")


def sheet(report: PythonTableReport) -> Sheet:
    """Every slot a row."""
    columns = (
        *("operator", "key", "chosen_key", "rule", "kernel", "python", "fallthrough"),
        *("declared_at", "error", "cpp", "reason", "because"),
    )
    return Sheet(columns, _cells(report))


def _cells(report: PythonTableReport) -> Iterator[tuple[object, ...]]:
    for table in report.operators:
        for row in table.entries:
            why = row.differs
            differs = (None, None, None) if why is None else (why.cpp.source or why.cpp.rule, why.reason, why.because)
            answer = (row.key, row.chosen_key, row.rule, row.kernel, row.python, row.fallthrough)
            yield (table.operator, *answer, row.span, row.error, *differs)
    for slots in report.higher_order_operators:
        for entry in slots.entries:
            chosen = entry.key if entry.rule is Rule.FALLBACK else entry.source
            falls = entry.slot is Slot.FALLTHROUGH
            answered = (entry.key, chosen, decided(entry), entry.kernel, True, falls)
            yield (slots.name, *answered, entry.span, entry.error, None, None, None)


def differences_document(
    report: PythonDifferencesReport, _: int | None = None, *, universe: Universe
) -> Iterator[Block]:
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
        for number, group in enumerate(operator.groups(universe.slot))
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


def differences_sheet(report: PythonDifferencesReport) -> Sheet:
    """Every slot that is decided otherwise a row."""
    columns = ("operator", "key", "cpp_rule", "cpp_source", "python_rule", "python_source", "reason", "because")
    rows = (
        (operator.operator, slot.key, *slot.cpp, *slot.python, slot.reason, slot.because)
        for operator in report.operators
        for slot in operator.slots
    )
    return Sheet(columns, rows)
