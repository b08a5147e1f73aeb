"""Tables of slots as lines: a row is never wider than the view, and leads to its slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dispatch_cli.answers.shared.folding import Folded, unfolded
from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table import document as table
from dispatch_cli.answers.table import slot_marks_wording as slot_marks
from dispatch_cli.answers.table.report import OperatorTable, became_stale, fold_table
from dispatch_cli.answers.table.wording import before_label
from dispatch_cli.explore.catalogue import TRIED
from dispatch_cli.explore.cells_view import ShownKeys, ShownSlots
from dispatch_cli.explore.table_layout import LaidOut, flow, laid_out
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Gap, Inline, Paragraph, Run, TableBlock, Tone, joined
from dispatch_cli.render.text_lines import HEADS, TextLine, shown_lines
from dispatch_cli.render.text_list import cut, list_layout
from dispatch_cli.render.words import aside_lines, plural, schema_label

if TYPE_CHECKING:
    from dispatch_cli.answers.table.python.report import PythonTable

MAX_TITLE = 2
"""Lines of a title."""


def marks_of(row: TableRow, tried: Mapping[str, Before]) -> str:
    """The signs of what is particular about a slot: changed on trial, stale, changed by the files."""
    return TRIED * (row.key in tried) + slot_marks.mark_of(row)


def cpp_rows(
    shown: OperatorTable, universe: Universe, tried: Mapping[str, Before], every: bool, width: int
) -> ShownSlots:
    """An operator's table. tried: what slots held before the changes on trial. every: a row for each slot."""
    autograd_keys = frozenset(universe.covered_by("Autograd"))
    folding = unfolded(shown.entries) if every else fold_table(shown.entries, autograd_keys, tried)

    def kernel(run: Folded[TableRow], short: bool) -> Inline:
        was = tried.get(run.answer.key)
        cell = kernel_column.cell(run, short)
        if was is None:
            return cell
        return joined(cell, Run(f"before the trial: {before_trial(run.answer, was, short)}", Tone.WARN, breaks=True))

    of_answer = [column for column in table.columns(folding) if column.header != "Key"]
    kernel_column = next(column for column in of_answer if column.header == "Kernel")
    of_answer[of_answer.index(kernel_column)] = replace(kernel_column, cell=kernel)
    marks = [marks_of(run.answer, tried) for run in folding.rows]
    rows = laid_out(of_answer, folding.rows, width, places_of(folding.rows), marks)
    asides = aside_lines((title, folding.aside.get(aside)) for aside, title in table.titles(folding).items())
    after = (*table.notes(shown), *asides, *table.stale_note(shown), *meaning_of_marks(shown.entries, tried))
    return whole_table(title_lines(shown, width), rows, after, width)


def title_lines(shown: OperatorTable | PythonTable, width: int) -> list[TextLine]:
    """The operator, in few lines, and whether the base has it."""
    title = schema_label(shown.operator, shown.schema)
    lines = few_lines(title, width)
    if isinstance(shown, OperatorTable) and shown.new:
        lines.append(cut([Run("new: the base does not have it", Tone.WARN)], width))
    return lines


def few_lines(text: str, width: int) -> list[TextLine]:
    """A title, in few lines."""
    if len(text) <= width:
        return [shown_lines(text, Tone.HEAD)[0]]
    lines = flow(text, width, Tone.HEAD)
    return (
        lines if len(lines) <= MAX_TITLE else [*lines[: MAX_TITLE - 1], cut([*lines[MAX_TITLE - 1], Run(" …")], width)]
    )


def sentences_of(place: ShownKeys, tried: Mapping[str, Before], key: str | None) -> Iterator[str]:
    """Sentences on the slots of a row or a cell of the C++ table. key: of the slot where the user is."""
    from dispatch_cli.answers.table.slot_wording import answer_text

    row: TableRow = place.row
    here = slot_of(place, key)
    yield from several(place, here)
    yield answer_text(row._replace(key=here), short=True)
    if row.stale:
        yield f"{slot_marks.STALE} Stale: a call runs {row.live_kernel or 'nothing'}."
    if row.before is not None:
        yield f"{slot_marks.CHANGED} In the base: {before_label(row.before, short=True)}."
    if row.key in tried:
        yield f"{TRIED} Before the trial: {before_trial(row, tried[row.key], short=True)}."


def before_trial(row: TableRow, was: Before, short: bool) -> str:
    """Answer of a slot before the changes on trial, where it differs from what its row shows."""
    return "not stale" if became_stale(row, was) else before_label(was, short)


def slot_of(place: ShownKeys, key: str | None) -> str:
    """Slot of a place that is meant. key: of the slot where the user is."""
    return key if key is not None and key in place.keys else place.keys[0]


def several(place: ShownKeys, here: str) -> Iterator[str]:
    """Number of slots that a row speaks for, and the one of them that is explained: *here*."""
    if len(place.keys) > 1:
        yield f"{len(place.keys)} slots with this answer; the view Slot explains {here}."


def meaning_of_marks(rows: Sequence[TableRow], tried: Mapping[str, Before]) -> Iterator[Block]:
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


def message(text: str, width: int) -> ShownSlots:
    """A text in the place of a table."""
    return ShownSlots(flow(text, width))


def places_of(rows: Sequence[Folded[Any]]) -> list[ShownKeys]:
    """Content of each row."""
    return [ShownKeys(run.keys, run.answer) for run in rows]


def below(tables: Iterable[Callable[[int], ShownSlots]], width: int) -> ShownSlots:
    """Tables below each other; the cursor goes through the first one."""
    first, *others = (table(width) for table in tables)
    lines = [line for other in others for line in ([], *other.top, *other.lines)]
    return first._replace(lines=[*first.lines, *lines])


def whole_table(title: Sequence[TextLine], rows: LaidOut, after: Iterable[Block], width: int) -> ShownSlots:
    """Rows below a title, which stays above them, with their header; after: below them."""
    top = [*title, rows.header] if rows.lines else title
    return ShownSlots([*rows.lines, *lines_of(after, width)], rows.targets, top)


def lines_of(blocks: Iterable[Block], width: int) -> list[TextLine]:
    """Blocks as lines that are not wider."""
    lines: list[TextLine] = []
    for block in blocks:
        if isinstance(block, Gap):
            lines.append([])
        elif isinstance(block, Paragraph) and not block.indent:
            lines += flow(block.inline, width, Tone.HEAD if block.kind in HEADS else Tone.PLAIN)
        elif isinstance(block, TableBlock):
            listed = list_layout(block, width)
            lines += (listed.header(), *map(listed.line, block.rows))
        else:
            from dispatch_cli.render.text import parts_of

            lines += (line for part in parts_of(block, width) for line in part.lines)
    return lines
