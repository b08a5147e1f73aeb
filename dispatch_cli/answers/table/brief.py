"""A table on one screen: slots with the same kind of kernel together, wherever they are, and counts of the rest."""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.answers.shared.folding import Folded
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.report import fold_table
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import Span

_FILES = "Register\\w+?|VariableType|TraceType|ADInplaceOrViewType"
_GENERATED = re.compile(rf"registered at (?:\S*/)?({_FILES})(?:_\d+)?\.cpp:\d+(?= \[|$)")
"""Places in what torchgen writes: the file says what it is, the number of the file and the line say nothing."""
OF_KEYS = "Register<Key>"
"""The kernel of slots each of which has the kernel that torchgen registers for its key."""


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
    found = tuple(_row(group, places) for group in groups.values())
    return BriefTable(found, {aside: len(runs.keys) for aside, runs in folding.aside.items()})


def generated_file(kernel: str | None) -> str | None:
    """The file of torchgen that registers a kernel, such as ``RegisterCPU``; None for any other kernel."""
    match = None if kernel is None else _GENERATED.match(kernel)
    return None if match is None else match[1]


def _kind(run: Folded[TableRow]) -> Hashable:
    """What the slots of a row have in common."""
    row = run.answer
    state = (row.rule, row.fallthrough, row.blockers, row.when, row.before, row.otherwise)
    live = row.live_kernel if row.stale else None
    if row.stale or row.before is not None or row.core_fallback:
        return (*state, live, row.kernel, run.keys)
    if row.rule is Rule.KERNEL and generated_file(row.kernel) == f"Register{row.key}":
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
