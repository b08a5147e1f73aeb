"""Cells of the support matrix that give another answer: a row per group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.diff.cells.changed import DiffCell
from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.sections_document import Fold, grouped, heading, table
from dispatch_cli.checks.support_words import contexts_words, reason_words
from dispatch_cli.checks.text import keys_text
from dispatch_cli.engine.support.cell import Cell, Reason, Verdict
from dispatch_cli.model.support import SupportContext, boxes
from dispatch_cli.render.document import Block, Column, Inline, Narrow, Run, Tone
from dispatch_cli.render.words import plural

Outcome = tuple[Verdict, Reason | None]


class CellChange(NamedTuple):
    """Answers that operators share, in each of the contexts on each of the backends."""

    before: Outcome
    after: Outcome
    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]


def cells(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """The groups, those with the most operators first."""
    if not report.cells:
        return
    yield from heading(f"{plural(report.counts.cells, 'support cell')} with another answer")
    changes = [
        (CellChange(before, after, *box), operator)
        for (operator, before, after), alike in grouped(report.cells, _kind)
        for box in boxes((cell.backend, cell.context) for cell in alike)
    ]
    groups = [(kind, [operator for _, operator in alike]) for kind, alike in grouped(changes, lambda pair: pair[0])]
    columns: list[Column[tuple[CellChange, list[str]]]] = [
        Column("Count", lambda row, _: f"{len(row[0].contexts) * len(row[0].backends) * len(row[1]):,}", right=True),
        Column("Cells", lambda row, _: f"{contexts_words(row[0].contexts)} on {keys_text(row[0].backends)}"),
        Column("Answer", lambda row, _: (_answer(row[0].before), Run(" → "), _answer(row[0].after))),
        Column("Because", lambda row, _: _because(row[0]), Narrow.BELOW),
        fold.examples(lambda row: row[1]),
    ]
    yield from table(columns, groups, fold, "groups")


def _kind(cell: DiffCell) -> tuple[str, Outcome, Outcome]:
    return cell.operator, (cell.before, cell.old_reason), (cell.after, cell.new_reason)


def _answer(outcome: Outcome) -> Run:
    verdict, _ = outcome
    tone = Tone.KERNEL if verdict.works else Tone.BAD if verdict.fails else Tone.WARN
    return Run(verdict.value.replace("-", " "), tone)


def _because(change: CellChange) -> Inline:
    """Reason why it does not work now; where it does, why it did not."""
    if change.after[1] is not None:
        return reason_words(Cell(*change.after))
    return "" if change.before[1] is None else f"before: {reason_words(Cell(*change.before))}"
