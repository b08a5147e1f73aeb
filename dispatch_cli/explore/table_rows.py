"""Tables of slots as lines: a row is never wider than the view, and leads to its slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dispatch_cli.answers.shared.folding import Folded, unfolded
from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table import document as table
from dispatch_cli.answers.table import slot_marks_wording as slot_marks
from dispatch_cli.answers.table.report import OperatorTable, became_stale, fold_table
from dispatch_cli.answers.table.wording import before_label
from dispatch_cli.explore.catalogue import TRIED
from dispatch_cli.explore.cells_view import ShownKeys, ShownSlots, Target
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Gap, Inline, Paragraph, ParagraphKind, Run, TableBlock, Tone, joined
from dispatch_cli.render.text import parts_of
from dispatch_cli.render.text_lines import Part, TextLine
from dispatch_cli.render.text_list import cut, list_layout, list_parts
from dispatch_cli.render.words import aside_lines, keys_label, plural

MAX_TITLE = 2
"""Lines of a title."""
LEAST_WIDTH = 20
"""Columns for which lines are laid out; in a view with fewer they are cut."""


def marks_of(row: TableRow, tried: Mapping[str, Before]) -> str:
    """The signs of what is particular about a slot: changed on trial, stale, changed by the files."""
    return TRIED * (row.key in tried) + slot_marks.mark_of(row)


def cpp_rows(
    shown: OperatorTable, universe: Universe, tried: Mapping[str, Before], every: bool, width: int
) -> ShownSlots:
    """An operator's table. tried: what slots held before the changes on trial. every: a row for each slot."""
    autograd_keys = frozenset(universe.covered_by("Autograd"))
    folding = unfolded(shown.entries) if every else fold_table(shown.entries, autograd_keys, tried)

    def key(run: Folded[TableRow], short: bool) -> Inline:
        mark = marks_of(run.answer, tried)
        return (Run(f"{mark:<{room}} " if room else "", Tone.WARN), Run(keys_label(run.keys, short)))

    def kernel(run: Folded[TableRow], short: bool) -> Inline:
        was = tried.get(run.answer.key)
        cell = table.kernel_cell(run, short)
        if was is None:
            return cell
        return joined(cell, Run(f"before the trial: {before_trial(run.answer, was, short)}", Tone.WARN, breaks=True))

    room = max((len(marks_of(run.answer, tried)) for run in folding.rows), default=0)
    own = {"Key": key, "Kernel": kernel}
    columns = [replace(column, cell=own.get(column.header, column.cell)) for column in table.columns(folding)]
    asides = aside_lines((title, folding.aside.get(aside)) for aside, title in table.titles(folding).items())
    blocks = (
        *heading(shown),
        *([TableBlock(columns, folding.rows)] if folding.rows else ()),
        *table.notes(shown),
        *asides,
        *table.stale_note(shown),
        *meaning_of_marks(shown.entries, tried),
    )
    return document_rows(blocks, width)


def place_of_slots(item: object) -> ShownKeys | None:
    """Place that a row of slots with one answer leads to."""
    return ShownKeys(item.keys, item.answer) if isinstance(item, Folded) else None


def heading(shown: OperatorTable) -> Iterator[Block]:
    """The heading of a table, without the place of the operator: the rows have little room."""
    return table.heading(shown._replace(span=None))


def document_rows(
    blocks: Iterable[Block], width: int, place_of: Callable[[object], ShownKeys | None] = place_of_slots
) -> ShownSlots:
    """A document with a table of slots. What is above its rows stays there. place_of: what a row leads to."""
    lines: list[TextLine] = []
    targets: list[Target] = []
    for block in blocks:
        for part in _parts(block, max(LEAST_WIDTH, width)):
            place = place_of(part.item)
            if place is not None:
                targets.append(Target(place, len(lines), len(lines) + len(part.lines)))
            lines += part.lines
    first = targets[0].first if targets else 0
    top = [line for line in lines[:first] if line]
    moved = [target._replace(first=target.first - first, end=target.end - first) for target in targets]
    return ShownSlots(lines[first:], moved, top)


def _parts(block: Block, width: int) -> list[Part]:
    """The lines of a block: few of a title, and no wrapped cells."""
    if isinstance(block, TableBlock):
        return list_parts(block, width)
    parts = parts_of(block, width)
    if isinstance(block, Paragraph) and block.kind is ParagraphKind.TITLE:
        return [part._replace(lines=_few(part.lines, width)) for part in parts]
    return parts


def _few(lines: list[TextLine], width: int) -> list[TextLine]:
    """The first lines of a title; the last of them says that there are more."""
    if len(lines) <= MAX_TITLE:
        return lines
    return [*lines[: MAX_TITLE - 1], cut([*lines[MAX_TITLE - 1], Run(" …")], width)]


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
    return ShownSlots(lines_of([Paragraph(text)], width))


def below(tables: Iterable[Callable[[int], ShownSlots]], width: int) -> ShownSlots:
    """Tables below each other; the cursor goes through the first one."""
    first, *others = (table(width) for table in tables)
    lines = [line for other in others for line in ([], *other.top, *other.lines)]
    return first._replace(lines=[*first.lines, *lines])


def lines_of(blocks: Iterable[Block], width: int) -> list[TextLine]:
    """Blocks as lines that are not wider; tables have a line for each row."""
    lines: list[TextLine] = []
    for block in blocks:
        if isinstance(block, TableBlock):
            listed = list_layout(block, width)
            lines += (listed.header(), *map(listed.line, block.rows))
        else:
            lines += (line for part in _parts(block, max(LEAST_WIDTH, width)) for line in part.lines)
    return lines
