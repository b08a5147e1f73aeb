"""The table of an operator as a report and a document, and sentences on the slots of a row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from dispatch_cli.answers.shared.folding import Folded, unfolded
from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table import document as table
from dispatch_cli.answers.table import wording as slot_marks
from dispatch_cli.answers.table.report import OperatorTable, became_stale, fold_table, table_report
from dispatch_cli.answers.table.report import changed_slots as changed_by_files
from dispatch_cli.answers.table.wording import before_label
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.table import changed_slots
from dispatch_cli.explore.session import TRIED, PaneAnswer, Session, Spot
from dispatch_cli.model.names import DEFAULT_OVERLOAD, HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import (
    Block,
    Fact,
    Gap,
    Inline,
    Mark,
    MatrixCell,
    Paragraph,
    Run,
    TableBlock,
    Tone,
    joined,
)
from dispatch_cli.render.words import aside_lines, keys_label, plural

DEFAULT_KEY = "CPU"
"""Key under the cursor as long as none was chosen."""
Report = TypeVar("Report")


class Resolver(Enum):
    """Choices that a table shows; the value is the one of ``--resolver``."""

    CPP = "cpp"
    DIFFERENCES = "differences"


class TableOptions(NamedTuple):
    """Display options of a table.

    grid: functionalities by backends. every: one row for each slot. keys: a glob, or a part of the keys' names; empty
    for all keys.
    """

    grid: bool = False
    every: bool = False
    resolver: Resolver = Resolver.CPP
    keys: str = ""

    @property
    def glob(self) -> str:
        """The glob by which keys are chosen; empty for all keys."""
        return self.keys if not self.keys or any(sign in self.keys for sign in "*?[") else f"*{self.keys}*"


def table_answer(session: Session, spot: Spot, options: TableOptions = TableOptions()) -> PaneAnswer | None:  # noqa: B008
    """The table of the operator at a spot; None where there is none, and where no key matches."""
    state = session.state
    keys = None
    if options.glob:
        from dispatch_cli.answers.shared.selection import select_keys

        keys = select_keys(state.dispatcher.universe, (options.glob,))
        if not keys:
            return None
    if spot.higher_order is not None:
        operator = state.higher_order_operator(spot.higher_order)
        if operator is None:
            return None
        from dispatch_cli.answers.table.higher_order.report import slots_of

        resolver = Resolver.CPP
        report: object = whole(table_report(state, (), keys, slots_of(state, (operator,), keys)))
    else:
        name, resolver = spot.operator, options.resolver
        if name is None or name not in state.dispatcher:
            return None
        report = _report(state, name, resolver, keys)
    return PaneAnswer(report, session.command("table", *_arguments(session, spot, options, resolver)))


def _report(state: State, name: OperatorName, resolver: Resolver, keys: frozenset[str] | None) -> object:
    if resolver is Resolver.CPP:
        return whole(table_report(state, (name,), keys))
    from dispatch_cli.answers.table.differences import differences_report

    return whole(differences_report(state, (name,), keys))


def _arguments(session: Session, spot: Spot, options: TableOptions, resolver: Resolver) -> tuple[str, ...]:
    chosen = ["--op", operator_glob(session, spot)]
    if options.glob:
        chosen += ["--key", options.glob]
    if resolver is not Resolver.CPP:
        chosen += ["--resolver", resolver.value]
    if options.grid and resolver is Resolver.CPP and spot.higher_order is None:
        chosen += ["--view", "grid"]
    elif options.every and resolver is not Resolver.DIFFERENCES:
        chosen.append("--full")
    elif not options.glob and resolver is Resolver.CPP and spot.higher_order is None:
        chosen += ["--view", "rows"]
    return tuple(chosen)


def operator_glob(session: Session, spot: Spot) -> str:
    """Argument of ``--op`` that chooses the operator at a spot, and no other."""
    if spot.operator is None:
        return f"{HIGHER_ORDER_NAMESPACE}::{spot.higher_order}"
    name, names = str(spot.operator), _names(session.state)
    after = bisect_left(names, f"{name}.")
    overloads = after < len(names) and names[after].startswith(f"{name}.")
    return exact(spot.operator) if overloads else name


def exact(name: OperatorName) -> str:
    """A name as a glob that finds no other overload."""
    return str(name) if name.overload else f"{name}{DEFAULT_OVERLOAD}"


@lru_cache(maxsize=2)
def _names(state: State) -> list[str]:
    """The names of all operators, sorted, which takes a while."""
    return state.dispatcher.names()


def said_once(row: TableRow, was: Before | None) -> TableRow:
    """A row without what its slot held before the files, where it held the same before the changes on trial (*was*)."""
    return row._replace(before=None) if was is not None and row.before == was else row


def with_key(session: Session, spot: Spot, last: str | None) -> Spot:
    """A spot with a key: its own, else the last one, or the first of those that are changed where that is none."""
    if spot.key is not None:
        return spot
    name, state = spot.operator, session.state
    changed: set[str] = set()
    if name is not None and name in state.dispatcher:
        changed = {*tried_slots(session, name), *changed_by_files(state, name)}
    if changed and last not in changed:
        last = min(changed, key=state.dispatcher.universe.slot.__getitem__)
    return spot._replace(key=last or DEFAULT_KEY)


def tried_slots(session: Session, name: OperatorName) -> Mapping[str, Before]:
    """Answers of the original state's slots to calls, for the slots to which changes on trial have given another."""
    before, after = session.original, session.state
    if before is after or name not in before.dispatcher or name not in after.dispatcher:
        return {}
    answers = {}
    tables = [state.dispatcher.live_table(name) for state in (before, after)]
    for was, became in changed_slots(*tables):
        kernel = was.kernel
        answers[became.key] = Before(was.rule, kernel.label if kernel else None, was.is_fallthrough)
    return answers


def whole(report: Report) -> Report:
    """A report (a dataclass) with tuples in the place of its iterators."""
    instance: Any = report
    values = ((field.name, getattr(instance, field.name)) for field in fields(instance))
    result: Report = replace(instance, **{name: tuple(value) for name, value in values if isinstance(value, Iterator)})
    return result


class ShownKeys(NamedTuple):
    """Content of a row or a cell: slots with one answer, or the places of an implementation.

    row: of the report, which speaks for all of them.
    """

    keys: tuple[str, ...]
    row: Any


def place_of(item: object) -> ShownKeys | None:
    """Place that a row or a cell of a table leads to."""
    if isinstance(item, Folded):
        return ShownKeys(item.keys, item.answer)
    if isinstance(item, MatrixCell) and isinstance(item.target, TableRow):
        return ShownKeys((item.target.key,), item.target)
    if isinstance(item, Fact) and isinstance(item.link, list):
        return ShownKeys(tuple(row.key for row in item.link), item.link[0])
    return None


def other_place_of(item: object) -> ShownKeys | None:
    """The same in tables of what Python chooses, and of higher-order operators."""
    from dispatch_cli.answers.findings.crossref.divergences import DivergenceGroup
    from dispatch_cli.answers.table.higher_order.report import ImplRow

    row = item[0] if isinstance(item, list) and item else item
    if isinstance(row, ImplRow):
        # as ``explain`` names it
        return ShownKeys((f"{row.kind.value}={row.name}",) if row.name else tuple(row.registered_at), row)
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], DivergenceGroup):
        return ShownKeys(item[1].keys.keys, item[1])
    return place_of(item)


def cpp_blocks(shown: OperatorTable, universe: Universe, tried: Mapping[str, Before], every: bool) -> Iterator[Block]:
    """An operator's table. tried: what slots held before the changes on trial. every: a row for each slot."""
    autograd_keys = frozenset(universe.covered_by("Autograd"))
    folding = unfolded(shown.entries) if every else fold_table(shown.entries, autograd_keys, tried)

    def key(run: Folded[TableRow], short: bool) -> Inline:
        mark = _marks_of(run.answer, tried)
        return (Run(f"{mark:<{room}} " if room else "", Tone.WARN), Run(keys_label(run.keys, short)))

    def kernel(run: Folded[TableRow], short: bool) -> Inline:
        was = tried.get(run.answer.key)
        cell = table.kernel_cell(run, short)
        if was is None:
            return cell
        return joined(cell, Run(f"before the trial: {_before_trial(run.answer, was)}", Tone.WARN, breaks=True))

    room = max((len(_marks_of(run.answer, tried)) for run in folding.rows), default=0)
    own = {"Key": key, "Kernel": kernel}
    columns = [replace(column, cell=own.get(column.header, column.cell)) for column in table.columns(folding)]
    yield from _heading(shown)
    if folding.rows:
        yield TableBlock(columns, folding.rows)
    yield from table.notes(shown)
    yield from aside_lines((title, folding.aside.get(aside)) for aside, title in table.titles(folding).items())
    yield from table.stale_note(shown)
    yield from _meaning_of_marks(shown.entries, tried)


def grid_blocks(shown: OperatorTable, universe: Universe, tried: Mapping[str, Before]) -> Iterator[Block]:
    """An operator's table as a grid, with the codes of before the changes on trial."""
    from dispatch_cli.answers.table import grid_document as grid
    from dispatch_cli.answers.table.grid_document import grid_of

    def cell(row: TableRow | None) -> MatrixCell:
        was = None if row is None else tried.get(row.key)
        if row is None or was is None:
            return grid.cell_of(row)
        code = grid.cell_of(row._replace(before=None))
        return code._replace(target=row, marks=(*grid.before_marks(was), *code.marks, Mark(TRIED, Tone.WARN)))

    yield from _heading(shown)
    yield from grid.operator_blocks(shown, grid_of(shown, universe), cell)
    # the legend has the other marks
    yield from _meaning_of_marks([row._replace(before=None, stale=False) for row in shown.entries], tried)


def other_blocks(report: Any, universe: Universe, full: bool) -> Iterator[Block]:
    """Slots where Python chooses otherwise, and tables of higher-order operators. full: with a row for each slot."""
    from dispatch_cli.answers.table import differences_document
    from dispatch_cli.answers.table.differences import PythonDifferencesReport
    from dispatch_cli.answers.table.higher_order import document as higher_order

    if isinstance(report, PythonDifferencesReport):
        return differences_document.document(report, universe=universe)
    return higher_order.tables(report.higher_order_operators, full)


def _heading(shown: OperatorTable) -> Iterator[Block]:
    """The heading, without the place of the operator and without a gap: the rows have little room."""
    return (block for block in table.heading(shown._replace(span=None)) if not isinstance(block, Gap))


def _marks_of(row: TableRow, tried: Mapping[str, Before]) -> str:
    """The signs of what is particular about a slot: changed on trial, stale, changed by the files."""
    return TRIED * (row.key in tried) + slot_marks.mark_of(row)


def _before_trial(row: TableRow, was: Before) -> str:
    """Answer of a slot before the changes on trial, where it differs from what its row shows."""
    return "not stale" if became_stale(row, was) else before_label(was, short=True)


def _meaning_of_marks(rows: Sequence[TableRow], tried: Mapping[str, Before]) -> Iterator[Block]:
    """Meaning of the marks that are used in rows."""
    meanings = [(TRIED, "changed on trial", sum(row.key in tried for row in rows))]
    meanings.append(
        (slot_marks.CHANGED, "differs from the base", sum(row.before is not None and not row.stale for row in rows))
    )
    meanings.append((slot_marks.STALE, "stale", sum(row.stale and row.before is None for row in rows)))
    meanings.append(
        (slot_marks.BOTH, "stale, and differs from the base", sum(row.stale and row.before is not None for row in rows))
    )
    texts = [f"{sign} {meaning} ({plural(count, 'slot')})" for sign, meaning, count in meanings if count]
    if texts:
        yield Gap()
        yield Paragraph(Run(", ".join(texts), Tone.WARN))


# the slots of a row in sentences


def sentences_of(place: ShownKeys, tried: Mapping[str, Before], key: str | None) -> Iterator[str]:
    """Sentences on the slots of a row or a cell. key: of the slot where the user is."""
    here = key if key is not None and key in place.keys else place.keys[0]
    if not isinstance(place.row, TableRow):
        return
    if len(place.keys) > 1:
        yield f"Of {len(place.keys)} slots with this answer:"
    yield from _cpp_sentences(tried, place.row, here)


def _cpp_sentences(tried: Mapping[str, Before], row: TableRow, here: str) -> Iterator[str]:
    from dispatch_cli.answers.table.wording import answer_text

    yield answer_text(row._replace(key=here))
    if row.stale:
        yield f"{slot_marks.STALE} Stale: a call runs {row.live_kernel or 'nothing'}."
    if row.before is not None:
        yield f"{slot_marks.CHANGED} In the base: {before_label(row.before, short=True)}."
    if row.key in tried:
        yield f"{TRIED} Before the trial: {_before_trial(row, tried[row.key])}."
