"""The computed table of each operator: folded rows and notes; of many operators a row each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from dispatch_cli.answers.shared.slot_row import Folded, Folding, SlotRow, TableRow, unfolded
from dispatch_cli.answers.table.report import (
    Aside,
    NotKnown,
    OperatorTable,
    TableReport,
    TableSummaryReport,
    fold_kinds,
    fold_table,
    generated_file,
    is_of_its_key,
)
from dispatch_cli.answers.table.wording import before_label, note_text, otherwise_label, source_label
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import some_of
from dispatch_cli.model.span import Origin, Span
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
)
from dispatch_cli.render.words import (
    aside_lines,
    count_cell,
    fallthrough_text,
    inherited,
    keys_label,
    origins_of,
    place_cell,
    plural,
    rule_tone,
    runs_label,
    schema_label,
    short_kernel,
    undecided_lines,
    when_label,
)

if TYPE_CHECKING:
    from dispatch_cli.engine.python.higher_order import Slot
    from dispatch_cli.render.sheet import Sheet

TITLES: Mapping[Hashable, str] = {
    Aside.CORE_FALLBACK: "PyTorch's own fallback",
    Aside.CORE_FALLTHROUGH: "Fallthrough (PyTorch's own)",
    Aside.MISSING: "Missing",
}
_COUNTED: Mapping[Hashable, str] = {
    Aside.MISSING: "missing",
    Aside.CORE_FALLBACK: "fallback",
    Aside.CORE_FALLTHROUGH: "fallthrough",
}
OF_KEYS = "Register<Key>"
"""The kernel of slots each of which has the kernel that torchgen registers for its key."""
SHORT = 4
"""Letters of a header of numbers where there is little room."""


class Rows(Enum):
    """Slots that share a row: those with the same kind of kernel, wherever they are; equal neighbours; or none."""

    BY_KIND = "by kind"
    FOLDED = "folded"
    EVERY_SLOT = "every slot"


def document(report: TableReport, *, universe: Universe, rows: Rows = Rows.FOLDED) -> Iterator[Block]:
    """Each operator's table; then through what files came that the user did not name."""
    autograd_keys = frozenset(universe.covered_by("Autograd"))
    origins: dict[tuple[Span | None, Origin], None] = {}
    between = False
    for table in report.operators:
        if between:
            yield Gap()
        between = True
        yield from heading(table)
        if rows is Rows.BY_KIND:
            yield from _rows_by_kind(table, fold_kinds(table.entries, autograd_keys))
        elif rows is Rows.FOLDED:
            yield from _rows(table, fold_table(table.entries, autograd_keys))
        else:
            yield from _rows(table, unfolded(table.entries))
        yield from stale_note(table)
        origins |= dict.fromkeys(origins_of(table, *table.entries))
    if not between and not report.higher_order_operators:
        yield Paragraph(Run(f"No operators ({report.universe})", Tone.DIM))
    if lines := inherited(origins):
        yield Gap()
        yield from lines
    if report.higher_order_operators:
        from dispatch_cli.answers.table.higher_order_document import tables as higher_order_tables

        if between:
            yield Gap()
        yield from higher_order_tables(report.higher_order_operators, rows is Rows.EVERY_SLOT)
    yield from undecided_lines(report.undecided_kernels)


def _rows(table: OperatorTable, folding: Folding[TableRow]) -> Iterator[Block]:
    """The rows, the notes, and the keys of the slots without a row."""
    yield TableBlock(columns(folding), folding.rows, narrow_note=sources(folding))
    yield from notes(table)
    yield from aside_lines((title, folding.aside.get(aside)) for aside, title in titles(folding).items())


def _rows_by_kind(table: OperatorTable, folding: Folding[TableRow]) -> Iterator[Block]:
    """The rows on one screen, the number of slots without a row, and the notes."""
    spans = {row.key: row.span for row in table.entries}
    named = Folding(tuple(run for run in folding.rows if _file(run) != f"Register{run.answer.source}"), {})
    yield TableBlock(_columns_by_kind(folding, spans), folding.rows, narrow_note=sources(named))
    if folding.aside or table.notes:
        yield Gap()
    if folding.aside:
        counts = ", ".join(f"{len(runs.keys)} {_counted(aside)}" for aside, runs in folding.aside.items())
        yield Paragraph(Run(f"Without a row: {counts} (--full shows every slot, --view rows these)", Tone.DIM))
    yield from (Paragraph(note_text(note)) for note in table.notes)


def _counted(aside: Hashable) -> str:
    return not_known_title(aside) if isinstance(aside, NotKnown) else _COUNTED[aside]


def titles(folding: Folding[TableRow]) -> Mapping[Hashable, str]:
    """Names of the slots that have no row."""
    return {**TITLES, **{aside: not_known_title(aside) for aside in folding.aside if isinstance(aside, NotKnown)}}


def not_known_title(what: NotKnown) -> str:
    """Name of the slots that depend on something not known."""
    if what.rule is Rule.MISSING:
        return "not known"
    source = f" from {what.source}" if what.source is not None else ""
    return f"not known (unless registered by hand: {what.rule.dump_text}{source})"


def heading(table: OperatorTable) -> Iterator[Block]:
    """The heading of an operator's table, in any view."""
    yield Paragraph(schema_label(table.operator, table.schema), kind=ParagraphKind.TITLE)
    if table.span is not None:
        yield Paragraph(Run(f"defined at {table.span}", Tone.DIM))
    if table.new:
        yield Paragraph(Run("new: the base does not have it", Tone.WARN))
    yield Gap()


def notes(table: OperatorTable) -> Iterator[Block]:
    """A sentence for each note, below a gap."""
    if table.notes:
        yield Gap()
    for note in table.notes:
        yield Paragraph(note_text(note))


def stale_note(table: OperatorTable) -> Iterator[Block]:
    """A sentence that says where the live table holds something else."""
    runs = [tuple(row.key for row in run) for stale, run in groupby(table.entries, key=lambda row: row.stale) if stale]
    if runs:
        yield Gap()
        text = f": a call at {runs_label(runs)} runs what the live table holds, not this; see check-invariants."
        yield Paragraph((Run("Stale", Tone.BAD), Run(text)))


def columns(
    folding: Folding[TableRow], keys: Callable[[tuple[str, ...], bool], str] = keys_label
) -> list[Column[Folded[TableRow]]]:
    """The columns of a table; where nothing has a place in a file, none says where from. keys: how keys are shown."""
    changed = any(run.answer.before is not None for run in folding.rows)
    placed = any(run.answer.span is not None for run in folding.rows)

    def key(run: Folded[TableRow], short: bool) -> Inline:
        mark = "* " if run.answer.before else "  " if changed else ""
        return mark + keys(run.keys, short)

    return [Column("Key", key), *(column for column in COLUMNS if placed or column is not PLACES)]


def _columns_by_kind(folding: Folding[TableRow], spans: Mapping[str, Span | None]) -> list[Column[Folded[TableRow]]]:
    """The columns of slots of one kind: short names, and the places of all their kernels. spans: of each slot."""

    def places(run: Folded[TableRow], short: bool) -> Inline:
        declared = [*dict.fromkeys(span for key in run.keys if (span := spans[key]) is not None)]
        if not declared:
            return "" if short else place_cell(None, run.answer.origin)
        more = (Run(f" and {len(declared) - 1} more", Tone.DIM),) if len(declared) > 1 else ()
        return (place_cell(declared[0], run.answer.origin), *more)

    cells = {
        "Kernel": _kernel_of_kind,
        "Rule": lambda run, _: _rule(run, True),
        "Declared at": places,
        "Before": _before,
    }
    return [replace(column, cell=cells.get(column.header, column.cell)) for column in columns(folding, _few_keys)]


def _few_keys(keys: tuple[str, ...], short: bool) -> str:
    """A few keys; of more the first ones, and how many more there are."""
    if short:
        return keys[0] if len(keys) == 1 else f"{keys[0]} +{len(keys) - 1}"
    return some_of(keys, 3)


def _file(run: Folded[TableRow]) -> str | None:
    """The file that torchgen writes the kernels into, or `OF_KEYS`; None for kernels that are written by hand."""
    return OF_KEYS if len(run.keys) > 1 and is_of_its_key(run.answer) else generated_file(run.answer.kernel)


def _kernel_of_kind(run: Folded[TableRow], _: bool) -> Inline:
    row, file = run.answer, _file(run)
    if file is not None and not row.fallthrough and not row.stale:
        return file
    # the place is what identifies a kernel that is written by hand, and its file says enough of PyTorch's own
    return kernel_cell(run, True)


def _before(run: Folded[TableRow], short: bool) -> Inline:
    """Kernels that the slots held in the base; of those that torchgen writes, the file is enough."""
    before = run.answer.before
    if before is not None and (file := generated_file(before.kernel)) is not None:
        return before_cell(run.answer._replace(before=before._replace(kernel=file)), short)
    return before_cell(run.answer, short)


def kernel_cell(run: Folded[TableRow], short: bool) -> Inline:
    """The kernel of slots, and what a call runs instead where the live table holds something else."""
    row = run.answer
    if row.otherwise is not None and row.otherwise.kernel is not None:
        text = Run(f"? (unless registered by hand: {otherwise_label(row.otherwise, short)})", Tone.DIM)
    elif row.kernel is None:
        text = Run("?" if row.rule is Rule.NOT_KNOWN else "-", Tone.DIM)
    elif row.fallthrough and not row.core_fallback:
        text = Run(fallthrough_text(row.kernel, row.span, short)[1:])
    elif row.core_fallback:
        text = Run("PyTorch's own" if len(run.keys) > 1 else f"PyTorch's own, {short_kernel(row.kernel)}", Tone.DIM)
    else:
        text = Run(short_kernel(row.kernel) if short else row.kernel)
    runs = (Run("fallthrough" + " " * bool(text.text), Tone.WARN), text) if row.fallthrough else (text,)
    if not row.stale:
        return runs
    live = row.live_kernel or "nothing"
    return (*runs, Run(f"stale: a call runs {short_kernel(live) if short else live}", Tone.BAD, breaks=True))


def before_cell(row: TableRow, short: bool) -> Inline:
    """Former content of a slot, in the base; nothing where the files have not changed it."""
    before = row.before
    if before is None:
        return ""
    return Run(f"{'before: ' if short else ''}{before_label(before, short)}", Tone.WARN)


def _rule(run: Folded[TableRow], short: bool) -> Inline:
    rule = run.answer.rule
    return Run(rule.value if short else rule.dump_text, rule_tone(rule))


PLACES: Column[Folded[TableRow]] = Column(
    "Declared at", lambda run, _: place_cell(run.answer.span, run.answer.origin), Narrow.BELOW
)
COLUMNS: list[Column[Folded[TableRow]]] = [
    Column("Kernel", kernel_cell),
    Column("Rule", _rule),
    Column("From", lambda run, _: Run(source_label(run.answer), Tone.ALIAS), narrow=Narrow.DROP, optional=True),
    Column("When", lambda run, _: when_label(run.answer.when), Under("Kernel"), optional=True),
    PLACES,
    Column("Before", lambda run, short: before_cell(run.answer, short), Under("Kernel"), optional=True),
]


def sources(folding: Folding[TableRow]) -> Inline:
    """Alias keys from which each rule takes its kernels."""
    pairs = dict.fromkeys((run.answer.rule.value, source_label(run.answer)) for run in folding.rows)
    return Run("; ".join(f"{rule} from {source}" for rule, source in pairs if source), Tone.DIM)


def sheet(report: TableReport) -> Sheet:
    """Every slot a row; where nothing of a higher-order operator runs, ``rule`` is what a call finds there."""
    from dispatch_cli.render.sheet import Sheet

    columns = (
        *("operator", "key", "rule", "rule_number", "kernel", "fallthrough"),
        *("source", "blockers", "declared_at", "live_kernel", "before", "otherwise"),
    )
    return Sheet(columns, _cells(report))


def _cells(report: TableReport) -> Iterator[tuple[object, ...]]:
    for table in report.operators:
        yield from (_row_cells(table.operator, row, row.rule) for row in table.entries)
    if report.higher_order_operators:
        from dispatch_cli.answers.table.higher_order_document import decided

        for operator in report.higher_order_operators:
            # the kernel of a slot is what a call runs there, so the live one as well
            rows = (row._replace(live_kernel=row.kernel) for row in operator.entries)
            yield from (_row_cells(operator.name, row, decided(row)) for row in rows)


def _row_cells(operator: str, row: SlotRow, decided: object) -> tuple[object, ...]:
    answer = (row.key, decided, row.rule_number, row.kernel, row.fallthrough, row.source, row.blockers)
    before = None if row.before is None else before_label(row.before)
    otherwise = None if row.otherwise is None else otherwise_label(row.otherwise)
    return (operator, *answer, row.span, row.live_kernel, before, otherwise)


class CountColumn(NamedTuple):
    """A column of counts. of: the count of a row."""

    header: str
    tone: Tone
    of: Callable[[Any], int]


def summary_document(report: TableSummaryReport) -> Iterator[Block]:
    """Number of slots that each rule fills, that are stale, and that differ from the base.

    A row per operator, then a row per higher-order operator.
    """
    counts = [
        *(CountColumn(rule.value, rule_tone(rule), partial(_of_slots, rule)) for rule in Rule),
        CountColumn("stale", Tone.BAD, attrgetter("stale")),
        CountColumn("changed", Tone.WARN, attrgetter("changed")),
    ]
    operators, others = [*report.operators], report.higher_order_operators
    if operators or not others:
        yield _table("Operator", "operator", counts, operators)
        yield Gap()
        yield Paragraph(Run(f"{plural(len(operators), 'operator')}, {report.universe}; slots by rule", Tone.DIM))
    if others:
        if operators:
            yield Gap()
        from dispatch_cli.engine.python.higher_order import Slot

        slots = [CountColumn(slot.value, Tone.PLAIN, partial(_of_slots, slot)) for slot in Slot]
        yield _table("Higher-order operator", "name", slots, others)
        yield Gap()
        closing = f"{plural(len(others), 'higher-order operator')}, {report.universe}"
        yield Paragraph(Run(f"{closing}; slots by what a call finds there", Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)


def _table(title: str, name: str, counts: Sequence[CountColumn], rows: Sequence[Any]) -> TableBlock[Any]:
    """A row for each operator, with the counts of which there are any. name: the field with an operator's name."""
    names: Column[Any] = Column(title, lambda row, _: str(getattr(row, name)))
    numbers = [_numbers(count) for count in counts if any(map(count.of, rows))]
    cut = ", ".join(f"{number.short_header}: {number.header.lower()}" for number in numbers if number.short_header)
    return TableBlock([names, *numbers], rows, narrow_note=Run(cut, Tone.DIM))


def _numbers(count: CountColumn) -> Column[Any]:
    header = count.header.replace("-", " ").capitalize()
    short = header[:SHORT] if len(header) > SHORT else ""
    return Column(header, lambda row, _: count_cell(count.of(row), count.tone), right=True, short_header=short)


def _of_slots(kind: Rule | Slot, row: Any) -> int:
    number: int = row.slots[kind]
    return number


def summary_sheet(report: TableSummaryReport) -> Sheet:
    """Sheet with a row for each operator."""
    from dispatch_cli.render.sheet import Sheet

    return Sheet(
        ("operator", *(rule.value for rule in Rule), "stale", "changed", "declared_at"), _summary_cells(report)
    )


def _summary_cells(report: TableSummaryReport) -> Iterator[tuple[object, ...]]:
    for operator in report.operators:
        yield (operator.operator, *operator.slots.values(), operator.stale, operator.changed, operator.span)
    for other in report.higher_order_operators:
        yield (other.name, *other.by_rule.values(), 0, 0, other.span)
