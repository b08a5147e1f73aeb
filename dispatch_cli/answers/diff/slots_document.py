"""Slots that give another answer: a row per group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffSlots
from dispatch_cli.answers.diff.sections_document import Fold, heading, table
from dispatch_cli.answers.diff.wording import answer_words, cause_words
from dispatch_cli.answers.shared.folding import runs_of
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Inline, Narrow, Run
from dispatch_cli.render.words import keys_label, plural, rule_tone, runs_label


def slots(report: DiffReport, fold: Fold, universes: tuple[Universe, Universe]) -> Iterator[Block]:
    """The groups, those with the most slots first. universes: of both sides."""
    if not report.slots:
        return
    yield from heading(f"{plural(report.counts.slots, 'slot')} with another answer")
    shared = (key for key in universes[1].slots if key in universes[0].slot)
    places = {key: place for place, key in enumerate(shared)}
    columns: list[Column[DiffSlots]] = [
        Column("Count", lambda row, _: f"{len(row.operators):,}", right=True),
        Column("Keys", lambda row, _: _keys(row.keys, fold, places)),
        Column("Answer", _answer),
        Column("Because", lambda row, _: _because(row, report.new.universe), Narrow.BELOW),
        fold.examples(lambda row: [operator.operator for operator in row.operators]),
    ]
    yield from table(columns, report.slots, fold, "groups")


def _keys(keys: tuple[str, ...], fold: Fold, places: Mapping[str, int]) -> str:
    """The keys; where nothing is left out, in runs of neighbours."""
    return runs_label(runs_of(keys, places)) if fold.each else keys_label(keys)


def _answer(row: DiffSlots, _: bool) -> Inline:
    before, after = (Run(answer_words(answer), rule_tone(answer.rule)) for answer in (row.before, row.after))
    if row.before == row.after:
        return before, Run(", another one")
    return before, Run(" → "), after


def _because(row: DiffSlots, universe: str) -> Inline:
    causes = (cause_words(row, position, universe) for position in range(len(row.causes)))
    return tuple(Run(text, breaks=position > 0) for position, text in enumerate(causes))
