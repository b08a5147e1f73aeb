"""What Python's ``resolve_key`` chooses, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.rules import Rule
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.divergence_wording import REASONS, because_of
from dispatch_cli.render.divergences import choice_label, wrapped
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import keys_label, place_label, runs_label, short_function, short_kernel
from dispatch_cli.report.divergences import by_reason, choice
from dispatch_cli.report.python_table import (
    FoldedPythonRow,
    FoldedPythonTable,
    OperatorDifferences,
    PythonReport,
    PythonRow,
    PythonTable,
    fold,
)

_MARK = "* "


def python_tables_text(report: PythonReport, style: Style, all_rows: bool) -> Iterator[str]:
    """Each operator's choices, folded unless *all_rows*; those that C++ does not make are marked."""
    for position, table in enumerate(report.tables()):
        folded = fold(table.rows)
        if all_rows:
            folded = FoldedPythonTable(tuple(FoldedPythonRow((row.key,), row) for row in table.rows), (), ())
        lead = ["\n"] if position else []
        yield "".join([*lead, to_text(_operator(table, folded, style), style)])


def python_summary_text(report: PythonReport, style: Style) -> Iterator[str]:
    """One row per operator: how many slots each rule fills, and at how many C++ chooses otherwise."""
    summaries = list(report.summaries())
    rules = [rule for rule in Rule if any(summary.counts.get(rule) for summary in summaries)]
    rows = Rows(["Operator"])
    for rule in rules:
        rows.add_column(rule.value.capitalize(), justify="right")
    rows.add_column("C++ differs", justify="right")
    for summary in summaries:
        counts = (summary.counts.get(rule, 0) for rule in rules)
        cells = (Text(str(count)) if count else Text("·", console.DIM) for count in counts)
        different = Text(str(summary.different), console.WARN) if summary.different else Text("·", console.DIM)
        rows.add_row(plain(summary.operator), *cells, different)
    closing = f"{len(summaries)} operators, {report.universe}; slots by the rule of Python's resolve_key"
    yield to_text([rows, Text(), plain(closing, console.DIM)], style)


def differences_text(report: PythonReport, style: Style) -> Iterator[str]:
    """The operators at which Python chooses another key than the C++ table, and why."""
    found = list(report.differences())
    compared = f"{len(report.names):,} operator{'' if len(report.names) == 1 else 's'}"
    if not found:
        closing = f"Python's resolve_key chooses the C++ table's key everywhere: {compared} ({report.universe})"
        yield to_text([plain(closing, console.KERNEL)], style)
        return
    rows = _difference_rows(found)
    yield to_text([*([rows] if fits(rows, style) else _difference_lines(found, style)), Text()], style)
    everything = [(one.operator, divergence) for one in found for divergence in one.divergences]
    lines = []
    for count in by_reason(everything):
        counted = f"{count.slots:,} slots of {count.operators:,} operators"
        lines.append(Text.assemble((f"{REASONS[count.reason]}: ", console.HEAD), counted))
    slots = f"{len(everything):,} slot{'' if len(everything) == 1 else 's'}"
    those = f"{len(found):,} operator{'' if len(found) == 1 else 's'}"
    closing_line = plain(f"{slots} of {those} differ; {compared} compared ({report.universe})", console.DIM)
    yield to_text([*lines, closing_line], style)


def _difference_rows(found: Iterable[OperatorDifferences]) -> Rows:
    rows = Rows(["Operator", "Key", "C++", "Python", "Because of"])
    for one in found:
        for number, group in enumerate(one.groups):
            rows.add_row(
                plain("" if number else one.operator),
                plain(runs_label(group.keys)),
                plain(choice_label(group.cpp)),
                plain(choice_label(group.python), console.WARN),
                plain(because_of(group)),
            )
    return rows


def _difference_lines(found: Iterable[OperatorDifferences], style: Style) -> Iterator[Text]:
    """The same as sentences, where rows have no room."""
    for one in found:
        yield plain(one.operator, console.HEAD)
        for group in one.groups:
            chosen = f"C++ chooses {choice_label(group.cpp)}, Python {choice_label(group.python)}"
            yield from wrapped(f"{runs_label(group.keys)}: {chosen}, because of {because_of(group)}", 2, style)


def _operator(table: PythonTable, folded: FoldedPythonTable, style: Style) -> Iterator[RenderableType]:
    yield plain(table.schema or f"{table.operator} (no schema: dangling)", console.HEAD)
    yield plain("what Python's resolve_key chooses", console.DIM)
    yield Text()
    if folded.rows:
        full = _rows(folded.rows, short=False)
        yield full if fits(full, style) else _rows(folded.rows, short=True)
    yield from _below(folded)
    yield from _reasons(table)


def _rows(rows: tuple[FoldedPythonRow, ...], short: bool) -> Rows:
    placed = not short and any(row.first.span is not None for row in rows)
    aliased = any(_source(row.first) for row in rows) and not short
    differ = any(row.first.divergence is not None for row in rows)
    optional = (("From", aliased), ("C++ chooses", differ and not short), ("Declared at", placed))
    table = Rows(["Key", "Kernel", "Rule", *(header for header, shown in optional if shown)])
    for folded in rows:
        row = folded.first
        mark = (_MARK if row.divergence is not None else " " * len(_MARK)) if differ else ""
        cells = [plain(mark + keys_label(folded.keys, short)), _kernel(row, short), _rule(row, short)]
        if aliased:
            cells.append(plain(_source(row), console.ALIAS))
        if differ and not short:
            label = "" if row.divergence is None else choice_label(choice(row.divergence.cpp))
            cells.append(plain(label, console.WARN))
        if placed:
            cells.append(plain(place_label(row.span), console.PLACE))
        table.add_row(*cells)
    return table


def _kernel(row: PythonRow, short: bool) -> Text:
    """The kernel; short, what C++ chooses instead, and where it is declared, stand below it."""
    text = _kernel_alone(row, short)
    if short and row.divergence is not None:
        text = Text.assemble(text, "\n", (f"C++ chooses {choice_label(choice(row.divergence.cpp))}", console.WARN))
    if short and row.span is not None:
        text = Text.assemble(text, "\n", (safe(place_label(row.span, short)), console.PLACE))
    return text


def _kernel_alone(row: PythonRow, short: bool) -> Text:
    if row.python:
        name = row.kernel or ""
        return Text.assemble(("Python ", console.ALIAS), safe(short_function(name) if short else name))
    if row.kernel is None:
        return plain(f"error: {row.decision.rule.value if short else row.error}", console.BAD)
    text = plain(short_kernel(row.kernel) if short else row.kernel)
    if row.core:
        text = Text("PyTorch's own", console.DIM)
    return Text.assemble(("fallthrough ", console.WARN), text) if row.fallthrough else text


def _rule(row: PythonRow, short: bool) -> Text:
    rule = row.decision.rule
    return plain(rule.value if short else rule.dump_text)


def _source(row: PythonRow) -> str:
    rule, source = row.decision.rule, row.decision.source
    return source if source is not None and rule is not Rule.KERNEL else ""


def _below(folded: FoldedPythonTable) -> Iterator[RenderableType]:
    lines = (
        ("The backend fallback (PyTorch's own)", folded.core_fallbacks),
        ("Error, resolve_key finds no kernel", folded.missing),
    )
    if any(runs for _, runs in lines):
        yield Text()
    for title, runs in lines:
        if runs:
            head = f"{title}, {sum(map(len, runs))}: "
            yield Text.assemble((head, console.HEAD), (safe(runs_label(runs)), console.DIM))


def _reasons(table: PythonTable) -> Iterator[RenderableType]:
    """Why marked slots are not decided as in C++."""
    marked = [row.divergence for row in table.rows if row.divergence is not None]
    if not marked:
        return
    yield Text()
    for (reason, because), run in groupby(marked, key=lambda one: (one.reason, one.because)):
        keys = keys_label(tuple(one.key for one in run))
        yield plain(f"{_MARK}{keys}: {REASONS[reason]} ({', '.join(because)})")
