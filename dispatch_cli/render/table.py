"""The computed table for people: folded rows, summaries of many operators."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.origin import Origin
from dispatch_cli.model.span import Span
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import (
    before_label,
    inherited_lines,
    keys_label,
    note_text,
    origin_place,
    runs_label,
    short_kernel,
    source_label,
)
from dispatch_cli.report.folding import FoldedRow, FoldedTable, fold, unfolded
from dispatch_cli.report.table import OperatorTable, TableReport

RULE_STYLES = {
    Rule.KERNEL: console.KERNEL,
    Rule.DEFAULT: console.ALIAS,
    Rule.NESTED: console.ALIAS,
    Rule.MATH: console.ALIAS,
    Rule.AUTOGRAD: console.ALIAS,
    Rule.BATCHED: console.ALIAS,
    Rule.FALLBACK: console.FALLBACK,
    Rule.AMBIGUOUS: console.BAD,
    Rule.MISSING: console.DIM,
}


def table_text(report: TableReport, style: Style, all_rows: bool, autograd_keys: frozenset[str]) -> Iterator[str]:
    """Each operator's table, folded unless *all_rows*; then through what files came that the user did not name."""
    inherited: dict[tuple[Span | None, Origin], None] = {}
    for position, table in enumerate(report.tables()):
        folded = unfolded(table.rows) if all_rows else fold(table.rows, autograd_keys)
        lead = ["\n"] if position else []
        yield "".join([*lead, to_text(_operator(table, folded, style), style)])
        inherited |= dict.fromkeys(origins(table))
    if lines := inherited_lines(inherited):
        yield to_text([Text(), *(plain(line, console.DIM) for line in lines)], style)


def origins(table: OperatorTable) -> Iterator[tuple[Span | None, Origin]]:
    """The declarations behind a table that came through others."""
    for span, origin in ((table.span, table.origin), *((row.span, row.origin) for row in table.rows)):
        if origin.through:
            # one for each file: the place in it does not matter
            yield (None if span is None else span._replace(line=1, column=1)), origin


def summary_text(report: TableReport, style: Style) -> Iterator[str]:
    """One row per operator: how many slots each rule fills."""
    summaries = list(report.summaries())
    columns = [
        (name, numbers, color)
        for name, numbers, color in (
            *((rule.value, [one.counts.get(rule, 0) for one in summaries], RULE_STYLES[rule]) for rule in Rule),
            ("stale", [one.stale for one in summaries], console.BAD),
            ("changed", [one.changed for one in summaries], console.WARN),
        )
        if any(numbers)
    ]
    table = Rows(["Operator"])
    for name, _, _ in columns:
        table.add_column(name.capitalize(), justify="right")
    for position, summary in enumerate(summaries):
        table.add_row(plain(summary.operator), *(_count(numbers[position], color) for _, numbers, color in columns))
    closing = Text(f"{len(summaries)} operators, {report.universe}; slots by rule", console.DIM)
    yield to_text([table, Text(), closing], style)


def _count(number: int, style: str) -> Text:
    return Text(str(number), style) if number else Text("·", console.DIM)


def heading(table: OperatorTable) -> Iterator[Text]:
    """What stands above an operator's table, in any view."""
    yield plain(table.schema or f"{table.operator} (no schema: dangling)", console.HEAD)
    if table.span is not None:
        yield plain(f"defined at {table.span}", console.DIM)
    if table.new:
        yield plain("new: the base does not have it", console.WARN)
    yield Text()


def _operator(table: OperatorTable, folded: FoldedTable, style: Style) -> Iterator[RenderableType]:
    yield from heading(table)
    full = _rows(folded.rows, short=False)
    if fits(full, style):
        yield full
    else:
        yield _rows(folded.rows, short=True)
        yield from _sources(folded)
    yield from notes(table)
    yield from _below(folded)
    yield from stale_note(table)


def _rows(rows: tuple[FoldedRow, ...], short: bool) -> Rows:
    placed = any(row.first.span is not None for row in rows)
    aliased = not short and any(source_label(row.first) for row in rows)
    changed = any(row.first.before is not None for row in rows)
    optional = (("From", aliased), ("Declared at", placed), ("Before", changed and not short))
    table = Rows(["Key", "Kernel", "Rule", *(header for header, shown in optional if shown)])
    for folded in rows:
        row = folded.first
        cells = [
            plain(("* " if row.before else "  " if changed else "") + keys_label(folded.keys, short)),
            _kernel(folded, short),
            plain(row.rule.value if short else row.rule.dump_text, RULE_STYLES[row.rule]),
        ]
        if aliased:
            cells.append(plain(source_label(row), console.ALIAS))
        if placed:
            cells.append(plain(origin_place(row.span, row.origin, short), console.PLACE))
        if changed and not short:
            cells.append(plain(before_label(row.before) if row.before else "", console.WARN))
        table.add_row(*cells)
    return table


def _sources(folded: FoldedTable) -> Iterator[RenderableType]:
    """Where there is no room for it in the rows: which alias key each rule takes its kernels from."""
    found = dict.fromkeys((row.first.rule.value, source_label(row.first)) for row in folded.rows)
    named = [f"{rule} from {source}" for rule, source in found if source]
    if named:
        yield Text()
        yield plain("; ".join(named), console.DIM)


def notes(table: OperatorTable) -> Iterator[RenderableType]:
    """A sentence for each note, below an empty line."""
    if table.notes:
        yield Text()
    for note in table.notes:
        yield plain(note_text(note))


def _kernel(folded: FoldedRow, short: bool) -> Text:
    row = folded.first
    if row.kernel is None:
        text = Text("-", console.DIM)
    elif row.core:
        text = plain(
            "PyTorch's own" if len(folded.keys) > 1 else f"PyTorch's own, {short_kernel(row.kernel)}", console.DIM
        )
    else:
        text = plain(short_kernel(row.kernel) if short else row.kernel)
    if row.fallthrough:
        text = Text.assemble(("fallthrough ", console.WARN), text)
    if row.live_kernel is not None:
        live = safe(short_kernel(row.live_kernel) if short else row.live_kernel) or "nothing"
        text = Text.assemble(text, "\n", (f"stale: live is {live}", console.BAD))
    if row.before is not None and short:
        text = Text.assemble(text, "\n", (f"before: {safe(before_label(row.before, short))}", console.WARN))
    return text


def _below(folded: FoldedTable) -> Iterator[RenderableType]:
    lines = (
        ("PyTorch's own fallback", folded.core_fallbacks),
        ("Fallthrough (PyTorch's own)", folded.core_fallthroughs),
        ("Missing", folded.missing),
    )
    if not any(runs for _, runs in lines):
        return
    yield Text()
    for title, runs in lines:
        if runs:
            head = f"{title}, {sum(map(len, runs))}: "
            yield Text.assemble((head, console.HEAD), (safe(runs_label(runs)), console.DIM))


def stale_note(table: OperatorTable) -> Iterator[Text]:
    """A sentence that says where the live table holds something else."""
    runs = tuple(
        tuple(row.key for row in run)
        for stale, run in groupby(table.rows, key=lambda row: row.live_kernel is not None)
        if stale
    )
    if runs:
        yield Text()
        where = safe(runs_label(runs))
        yield Text.assemble(
            ("Stale", console.BAD),
            f": a call at {where} runs what the live table holds, not this; see check-invariants.",
        )
