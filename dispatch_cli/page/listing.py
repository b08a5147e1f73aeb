"""The operators as lists show them: their order, marks, and how the files and the findings concern them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.answers.findings.summary_document import SEVERITY_TONES, severity_run
from dispatch_cli.answers.shared.operator_list import ListedOperator, listed_operators
from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.document import Column, TableBlock, Tone
from dispatch_cli.render.words import plural


class Listed(NamedTuple):
    """An operator in a list.

    own: the files say something of it. in_base: there is a base, and it has it. new: there is one that does not.
    changed, stale: how many of its slots are. findings: their number, worst: of them. unlisted: how many of them the
    page does not list.
    """

    name: str
    higher_order: bool
    own: bool
    in_base: bool
    new: bool
    changed: int
    stale: int
    findings: int
    worst: Severity | None
    unlisted: int


def every_operator(state: State, names: Sequence[OperatorName], findings: FindingsReport) -> list[Listed]:
    """Every operator, the higher-order ones last."""
    cards = Counter(row.finding.operator for row in findings.findings)
    own = {*map(str, state.own_operators()), *(operator.name for operator in state.own_higher_order_operators())}
    base = state.base

    def listed_as(name: str, higher_order: bool, in_base: bool, changed: int, stale: int) -> Listed:
        counts = findings.affected.get(name, {})
        worst = next((severity for severity in Severity if counts.get(severity)), None)
        new, total = base is not None and not in_base, sum(counts.values())
        return Listed(name, higher_order, name in own, in_base, new, changed, stale, total, worst, total - cards[name])

    return [
        *(
            listed_as(
                *(str(name), False, base is not None and name in base),
                *(len(changed_slots(state, name)), len(state.dispatcher.stale_slots(name))),
            )
            for name in names
        ),
        *(listed_as(operator.name, True, base is not None, 0, 0) for operator in state.higher_order_operators),
    ]


def listing_order(state: State, known: Sequence[Listed]) -> list[int]:
    """The order of the list: numbers of operators."""
    numbers = {ListedOperator(row.name, row.higher_order): number for number, row in enumerate(known)}
    return [numbers[operator] for operator in listed_operators(state)]


def listing_data(known: Sequence[Listed]) -> dict[str, Any]:
    """standing: of each operator its number; standings: what the numbers mean."""
    pool = Pool()
    return {"standing": [pool.build(row._replace(name=""), _standing) for row in known], "standings": pool.values}


def _standing(row: Listed) -> dict[str, Any]:
    """own, in_base: as of `Listed`. marks: the sign, what it says, its tone."""
    marks: list[list[str]] = []
    if row.worst is not None:
        tone = SEVERITY_TONES[row.worst].value
        marks.append([row.worst.value[0].upper(), plural(row.findings, "finding"), tone])
    if row.stale:
        marks.append(["!", plural(row.stale, "stale slot"), Tone.BAD.value])
    if row.own and (row.in_base or row.new):
        changed = f"{plural(row.changed, 'slot')} changed" if row.changed else "of the files"
        marks.append(["+", "new" if row.new else changed, Tone.ALIAS.value])
    if row.higher_order:
        marks.append(["h", "higher-order operator", Tone.DIM.value])
    unlisted = f"{plural(row.unlisted, 'finding')} of this operator {'is' if row.unlisted == 1 else 'are'} not listed."
    return {"own": row.own, "in_base": row.in_base, "marks": marks, "unlisted": unlisted * bool(row.unlisted)}


_COLUMNS: list[Column[Listed]] = [
    Column("Operator", lambda row, _: row.name),
    Column("Kind", lambda row, _: "new" * row.new + "higher-order" * row.higher_order, optional=True),
    Column("Slots changed", lambda row, _: str(row.changed or ""), right=True, optional=True),
    Column("Stale", lambda row, _: str(row.stale or ""), right=True, optional=True),
    Column("Findings", lambda row, _: str(row.findings or ""), right=True, optional=True),
    Column("Worst finding", lambda row, _: "" if row.worst is None else severity_run(row.worst), optional=True),
]


def operators_block(rows: Sequence[Listed]) -> list[Any]:
    """A table whose first column leads to operators."""
    return [("operators", *table) for _, *table in written_blocks((TableBlock(_COLUMNS, rows),))] if rows else []
