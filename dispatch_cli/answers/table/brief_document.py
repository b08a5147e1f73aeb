"""A table on one screen: slots with the same kind of kernel together, wherever they are, and counts of the rest."""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.answers.shared.folding import Folded
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.document import before_cell, kernel_cell, not_known_title, tables
from dispatch_cli.answers.table.report import Aside, NotKnown, OperatorTable, TableReport, fold_table
from dispatch_cli.answers.table.wording import note_text, source_label
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Gap, Inline, Narrow, Paragraph, Run, TableBlock, Tone, Under
from dispatch_cli.render.words import place_cell, rule_tone

_FILES = "Register\\w+?|VariableType|TraceType|ADInplaceOrViewType"
_GENERATED = re.compile(rf"registered at (?:\S*/)?({_FILES})(?:_\d+)?\.cpp:\d+(?= \[|$)")
"""Places in what torchgen writes: the file says what it is, the number of the file and the line say nothing."""
OF_KEYS = "Register<Key>"
"""The kernel of slots each of which has the kernel that torchgen registers for its key."""
_COUNTED: Mapping[Aside, str] = {
    Aside.MISSING: "missing",
    Aside.CORE_FALLBACK: "fallback",
    Aside.CORE_FALLTHROUGH: "fallthrough",
}


class BriefRow(NamedTuple):
    """Slots with the same kind of kernel; *answer* is the row of the first one.

    generated: the file that torchgen writes, or `OF_KEYS`; None for kernels that are written by hand. places: where
    the kernels are declared.
    """

    keys: tuple[str, ...]
    answer: TableRow
    generated: str | None
    places: tuple[Span, ...]


class BriefTable(NamedTuple):
    """The rows, in the order of their first slots, and how many slots have none, by what they are."""

    rows: tuple[BriefRow, ...]
    counts: Mapping[Hashable, int]


def brief_table(rows: Sequence[TableRow], autograd_keys: Container[str]) -> BriefTable:
    """Fold a table; *autograd_keys* as in `fold_table`."""
    folding = fold_table(rows, autograd_keys)
    groups: dict[Hashable, list[Folded[TableRow]]] = {}
    for run in folding.rows:
        groups.setdefault(_kind(run), []).append(run)
    places = {row.key: row.span for row in rows}
    brief_rows = tuple(_row(group, places) for group in groups.values())
    return BriefTable(brief_rows, {aside: len(runs.keys) for aside, runs in folding.aside.items()})


def generated_file(kernel: str | None) -> str | None:
    """The file of torchgen that registers a kernel, such as ``RegisterCPU``; None for any other kernel."""
    match = None if kernel is None else _GENERATED.match(kernel)
    return None if match is None else match[1]


def _kind(run: Folded[TableRow]) -> Hashable:
    """Properties shared by the slots of one row. PyTorch's own fallbacks differ in their place alone."""
    row = run.answer
    live = (row.stale, row.live_kernel if row.stale else None)
    state = (row.rule, row.fallthrough, row.blockers, row.when, row.before, row.otherwise, live)
    if row.core_fallback:
        return state
    if not row.stale and row.rule is Rule.KERNEL and generated_file(row.kernel) == f"Register{row.key}":
        return (*state, OF_KEYS)
    return (*state, row.source if row.rule is not Rule.KERNEL else None, row.kernel, row.span)


def _row(group: Sequence[Folded[TableRow]], places: Mapping[str, Span | None]) -> BriefRow:
    keys = tuple(key for run in group for key in run.keys)
    answer = group[0].answer
    generated = generated_file(answer.kernel)
    if len(keys) > 1 and answer.rule is Rule.KERNEL and generated == f"Register{answer.key}":
        generated = OF_KEYS
    declared = dict.fromkeys(place for key in keys if (place := places[key]) is not None)
    return BriefRow(keys, answer, generated, tuple(declared))


def document(report: TableReport, *, universe: Universe) -> Iterator[Block]:
    """Each operator's table: its rows, the counts, and the notes."""
    autograd_keys = frozenset(universe.covered_by("Autograd"))
    yield from tables(report, lambda table: _rows(table, autograd_keys))


def _rows(table: OperatorTable, autograd_keys: Container[str]) -> Iterator[Block]:
    brief = brief_table(table.entries, autograd_keys)
    yield TableBlock(_columns(brief), brief.rows, narrow_note=_sources(brief))
    if brief.counts or table.notes:
        yield Gap()
    if brief.counts:
        counts = ", ".join(f"{count} {_counted(aside)}" for aside, count in brief.counts.items())
        yield Paragraph(Run(f"Without a row: {counts} (--full shows every slot, --view rows these)", Tone.DIM))
    yield from (Paragraph(note_text(note)) for note in table.notes)


def _counted(aside: object) -> str:
    if isinstance(aside, NotKnown):
        return not_known_title(aside)
    assert isinstance(aside, Aside), "there are these two kinds"
    return _COUNTED[aside]


def _columns(table: BriefTable) -> list[Column[BriefRow]]:
    changed = any(row.answer.before is not None for row in table.rows)
    placed = any(row.places for row in table.rows)

    def key(row: BriefRow, short: bool) -> Inline:
        mark = "* " if row.answer.before else "  " if changed else ""
        return mark + _keys(row.keys, short)

    return [Column("Key", key), *(column for column in _COLUMNS if placed or column is not _PLACES)]


def _keys(keys: tuple[str, ...], short: bool) -> str:
    """A few keys; of more the first ones, and how many more there are."""
    if short:
        return keys[0] if len(keys) == 1 else f"{keys[0]} +{len(keys) - 1}"
    return ", ".join(keys) if len(keys) <= 3 else f"{keys[0]}, {keys[1]} and {len(keys) - 2} more"


def _kernel(row: BriefRow, _: bool) -> Inline:
    if row.generated is not None and not row.answer.fallthrough and not row.answer.stale:
        return row.generated
    # the place is what identifies a kernel that is written by hand, and its file says enough of PyTorch's own
    return kernel_cell(Folded(row.keys, row.answer), True)


def _places(row: BriefRow, short: bool) -> Inline:
    """Places of the kernels; in little room, those of the base are left out."""
    if not row.places:
        return "" if short else place_cell(None, row.answer.origin)
    more = f" and {len(row.places) - 1} more" if len(row.places) > 1 else ""
    return (place_cell(row.places[0], row.answer.origin), *((Run(more, Tone.DIM),) if more else ()))


def _before(row: BriefRow, short: bool) -> Inline:
    """Kernels that the slots held in the base; of those that torchgen writes, the file is enough."""
    before = row.answer.before
    if before is not None and (file := generated_file(before.kernel)) is not None:
        return before_cell(row.answer._replace(before=before._replace(kernel=file)), short)
    return before_cell(row.answer, short)


_PLACES: Column[BriefRow] = Column("Declared at", _places, Narrow.BELOW)
_COLUMNS: list[Column[BriefRow]] = [
    Column("Kernel", _kernel),
    Column("Rule", lambda row, _: Run(row.answer.rule.value, rule_tone(row.answer.rule))),
    Column("From", lambda row, _: Run(source_label(row.answer), Tone.ALIAS), narrow=Narrow.DROP, optional=True),
    Column("When", lambda row, _: row.answer.when or "", Under("Kernel"), optional=True),
    _PLACES,
    Column("Before", _before, Under("Kernel"), optional=True),
]


def _sources(table: BriefTable) -> Inline:
    """Alias keys from which each rule takes its kernels, where neither the rule nor the kernel names it."""
    rows = (row for row in table.rows if row.generated != f"Register{row.answer.source}")
    sources = dict.fromkeys((row.answer.rule.value, source_label(row.answer)) for row in rows)
    named = (f"{rule} from {source}" for rule, source in sources if source and source.lower() != rule)
    return Run("; ".join(named), Tone.DIM)
