"""Sections of a comparison: headings, grouped rows, slots that give another answer, support cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from dispatch_cli.answers.diff.report import DiffCell, DiffReport
from dispatch_cli.answers.diff.rows import DiffSlots
from dispatch_cli.answers.diff.wording import answer_words, group_cause_words
from dispatch_cli.answers.shared.slot_row import runs_of
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.support_words import contexts_words, reason_words
from dispatch_cli.engine.support.cell import Cell, Reason, Verdict
from dispatch_cli.model.calls.support import SupportContext, boxes
from dispatch_cli.model.names import some_of
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
)
from dispatch_cli.render.words import keys_label, plural, rule_tone, runs_label

FEW = 12
"""Number of rows that are listed one by one; more are grouped."""
MOST = 15
"""Rows of groups that are shown."""
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Outcome = tuple[Verdict, Reason | None]


class Fold:
    """Limits of what is shown. each: everything, one by one. left_out: true if something was not shown."""

    def __init__(self, each: bool) -> None:
        self.each = each
        self.left_out = False

    def lists(self, rows: Sequence[object]) -> bool:
        """True if rows are listed one by one."""
        if self.each or len(rows) <= FEW:
            return True
        self.left_out = True
        return False

    def shown(self, rows: Sequence[Item], most: int = MOST) -> Sequence[Item]:
        """The rows that are shown of those that are there."""
        if self.each or len(rows) <= most + 1:
            return rows
        self.left_out = True
        return rows[:most]

    def names(self, names: Sequence[str], most: int = 3) -> str:
        """Names of operators; the first ones of many."""
        return ", ".join(names) if self.each else some_of(names, most)

    def examples(self, names: Callable[[Any], Sequence[str]]) -> Column[Any]:
        """The column with some of the operators of a row, all where everything is shown."""
        return Column(
            "Operators" if self.each else "Such as",
            lambda row, short: Run(self.names(names(row), 2 if short else 3), Tone.DIM),
            Narrow.BELOW,
        )


def heading(text: str) -> Iterator[Block]:
    """The head of a section."""
    yield Gap()
    yield Paragraph(text, kind=ParagraphKind.SECTION)


def section(
    title: str, columns: Sequence[Column[Any]], rows: Sequence[Any], fold: Fold, what: str = "groups"
) -> Iterator[Block]:
    """A title, rows, and how many more there are; nothing without rows. what: what a row is, in the plural."""
    if not rows:
        return
    yield from heading(title)
    shown = fold.shown(rows)
    yield TableBlock(columns, shown, indent=2)
    if len(shown) < len(rows):
        yield Paragraph(Run(f"and {len(rows) - len(shown):,} more {what}", Tone.DIM), indent=2)


def grouped(rows: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """Rows by what they have in common, the largest groups first."""
    groups: dict[Key, list[Item]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def namespace(operator: str) -> str:
    """The namespace of an operator's name."""
    return operator.partition("::")[0]


def slots(report: DiffReport, fold: Fold, universes: tuple[Universe, Universe]) -> Iterator[Block]:
    """The groups, those with the most slots first. universes: of both sides."""
    shared = (key for key in universes[1].slots if key in universes[0].slot)
    places = {key: place for place, key in enumerate(shared)}
    columns: list[Column[DiffSlots]] = [
        Column("Count", lambda row, _: f"{len(row.operators):,}", right=True),
        Column("Keys", lambda row, _: _keys(row.keys, fold, places)),
        Column("Answer", _answer),
        Column("Because", lambda row, _: _because(row, report.new.universe), Narrow.BELOW),
        fold.examples(lambda row: [operator.operator for operator in row.operators]),
    ]
    yield from section(f"{plural(report.counts.slots, 'slot')} with another answer", columns, report.slots, fold)


def _keys(keys: tuple[str, ...], fold: Fold, places: Mapping[str, int]) -> str:
    """The keys; where nothing is left out, in runs of neighbours."""
    return runs_label(runs_of(keys, places)) if fold.each else keys_label(keys)


def _answer(row: DiffSlots, _: bool) -> Inline:
    before, after = (Run(answer_words(answer), rule_tone(answer.rule)) for answer in (row.before, row.after))
    if row.before == row.after:
        return before, Run(", another one")
    return before, Run(" → "), after


def _because(row: DiffSlots, universe: str) -> Inline:
    causes = (group_cause_words(row, position, universe) for position in range(len(row.causes)))
    return tuple(Run(text, breaks=position > 0) for position, text in enumerate(causes))


class CellChange(NamedTuple):
    """Answers that operators share, in each of the contexts on each of the backends."""

    before: Outcome
    after: Outcome
    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]


def cells(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """The groups, those with the most operators first."""
    changes = [
        (CellChange(before, after, *box), operator)
        for (operator, before, after), alike in grouped(report.cells, _kind)
        for box in boxes((cell.backend, cell.context) for cell in alike)
    ]
    groups = [(kind, [operator for _, operator in alike]) for kind, alike in grouped(changes, lambda pair: pair[0])]
    columns: list[Column[tuple[CellChange, list[str]]]] = [
        Column("Count", lambda row, _: f"{len(row[0].contexts) * len(row[0].backends) * len(row[1]):,}", right=True),
        Column("Cells", lambda row, _: f"{contexts_words(row[0].contexts)} on {keys_text(row[0].backends)}"),
        Column("Answer", lambda row, _: (_outcome(row[0].before), Run(" → "), _outcome(row[0].after))),
        Column("Because", lambda row, _: _cell_because(row[0]), Narrow.BELOW),
        fold.examples(lambda row: row[1]),
    ]
    yield from section(f"{plural(report.counts.cells, 'support cell')} with another answer", columns, groups, fold)


def _kind(cell: DiffCell) -> tuple[str, Outcome, Outcome]:
    return cell.operator, (cell.before, cell.old_reason), (cell.after, cell.new_reason)


def _outcome(outcome: Outcome) -> Run:
    verdict, _ = outcome
    tone = Tone.KERNEL if verdict.works else Tone.BAD if verdict.fails else Tone.WARN
    return Run(verdict.value.replace("-", " "), tone)


def _cell_because(change: CellChange) -> Inline:
    """Reason why it does not work now; where it does, why it did not."""
    if change.after[1] is not None:
        return reason_words(Cell(*change.after))
    return "" if change.before[1] is None else f"before: {reason_words(Cell(*change.before))}"
