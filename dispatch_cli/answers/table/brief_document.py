"""A table on one screen: a row for each kind of kernel, and counts of the slots that have none of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dispatch_cli.answers.shared.folding import Folded
from dispatch_cli.answers.table.brief import BriefRow, BriefTable, brief_table, generated_file
from dispatch_cli.answers.table.document import before_cell, kernel_cell, not_known_title
from dispatch_cli.answers.table.report import Aside, NotKnown, OperatorTable
from dispatch_cli.answers.table.wording import source_label
from dispatch_cli.render.document import Block, Column, Gap, Inline, Narrow, Paragraph, Run, TableBlock, Tone, Under
from dispatch_cli.render.words import place_cell, rule_tone

_COUNTED: Mapping[Aside, str] = {
    Aside.MISSING: "missing",
    Aside.CORE_FALLBACK: "fallback",
    Aside.CORE_FALLTHROUGH: "fallthrough",
}


def brief_blocks(table: OperatorTable, autograd_keys: Collection[str]) -> Iterator[Block]:
    """The rows of a table, and below them the counts."""
    found = brief_table(table.entries, autograd_keys)
    yield TableBlock(_columns(found), found.rows, narrow_note=_sources(found))
    if found.counts:
        yield Gap()
        counts = ", ".join(f"{count} {_counted(aside)}" for aside, count in found.counts.items())
        yield Paragraph(Run(f"Without a row: {counts} (--full shows every slot, --view rows these)", Tone.DIM))


def _counted(aside: object) -> str:
    if isinstance(aside, NotKnown):
        return not_known_title(aside)
    assert isinstance(aside, Aside), "there are these two kinds"
    return _COUNTED[aside]


def _columns(found: BriefTable) -> list[Column[BriefRow]]:
    changed = any(row.answer.before is not None for row in found.rows)
    placed = any(row.places for row in found.rows)

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
    """Where the kernels are declared; where there is little room, nothing of what is the base's own."""
    if not row.places:
        return "" if short else place_cell(None, row.answer.origin)
    more = f" and {len(row.places) - 1} more" if len(row.places) > 1 else ""
    return (place_cell(row.places[0], row.answer.origin), *((Run(more, Tone.DIM),) if more else ()))


def _before(row: BriefRow, short: bool) -> Inline:
    """What the slots held in the base; of what torchgen writes, its file is enough."""
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


def _sources(found: BriefTable) -> Inline:
    """From which alias key each rule takes its kernels, where neither the rule nor the kernel names it."""
    rows = (row for row in found.rows if row.generated != f"Register{row.answer.source}")
    sources = dict.fromkeys((row.answer.rule.value, source_label(row.answer)) for row in rows)
    named = (f"{rule} from {source}" for rule, source in sources if source and source.lower() != rule)
    return Run("; ".join(named), Tone.DIM)
