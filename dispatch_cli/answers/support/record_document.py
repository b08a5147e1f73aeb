"""Promises for what works today, as a declaration file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.findings.guards.yaml_document import operators, scalars
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportRow, Verdict
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.support import PROMISED, Promise, boxes


def record_yaml(promises: Sequence[Promise]) -> Iterator[str]:
    """A declaration file that promises what works."""
    yield "# Written by `dispatch-cli support --record`: what worked at that time.\n"
    yield f"dispatch: 1\nsupport:{'' if promises else ' []'}\n"
    for promise in sorted(promises, key=lambda promise: promise[:2]):
        yield f"  - op:{operators(promise.ops)}\n"
        yield f"    backends: {scalars(promise.backends)}\n"
        yield f"    contexts: {scalars([context.value for context in promise.contexts])}\n"


def recorded_promises(state: State, rows: Iterable[SupportRow], columns: Sequence[Column]) -> Iterator[Promise]:
    """The cells that work, as few promises: those that all operators of a namespace share, then the others.

    rows: those of one operator, in several states, count together. backends: devices. What fails, or is not known, is
    in none of them.
    """
    works: dict[OperatorName, int] = {}
    holds: dict[OperatorName, int] = {}
    for row in rows:
        bits = [(1 << at, cell.verdict) for at, cell in enumerate(row.cells) if columns[at].context in PROMISED]
        good = sum(bit for bit, verdict in bits if verdict.works)
        void = sum(bit for bit, verdict in bits if verdict is Verdict.NOT_APPLICABLE)
        holds[row.operator] = holds.get(row.operator, -1) & (good | void)
        works[row.operator] = (works.get(row.operator, 0) | good) & holds[row.operator]
    spaces: dict[str | None, list[OperatorName]] = {}
    for name in map(OperatorName.parse, state.dispatcher.names()):
        spaces.setdefault(name.namespace, []).append(name)
    groups: dict[int, list[str]] = {}
    for space in sorted({name.namespace or "" for name in works}):
        names, common = spaces[space or None], 0
        if space and len(names) > 1 and works.keys() >= frozenset(names):
            common, some = -1, 0
            for name in names:
                common, some = common & holds[name], some | works[name]
            common &= some
        if common:
            yield from _promises((f"{space}::*",), common, columns)
        for name in names:
            if left := works.get(name, 0) & ~common:
                groups.setdefault(left, []).append(str(name))
    for left, ops in groups.items():
        yield from _promises(tuple(sorted(ops)), left, columns)


def _promises(ops: tuple[str, ...], mask: int, columns: Sequence[Column]) -> Iterator[Promise]:
    """The cells of a mask."""
    cells = ((column.device, column.context) for at, column in enumerate(columns) if mask >> at & 1)
    for devices, contexts in boxes(cells):
        yield Promise(ops, devices, contexts)
