"""Choices of Python's ``resolve_key``, for the slots at which it differs from the C++ table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from dispatch_cli.answers.findings.crossref.divergence_wording import because_text
from dispatch_cli.answers.table.python.report import PythonRow, python_table_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.table import chosen_key, decisions, divergences
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.pool import Pool, Pools
from dispatch_cli.render.data import data_of

_OF_OPERATOR = ("kernel", "declared_at", "error")
"""Fields of a row that are an operator's own."""


def python_data(state: State, names: Sequence[OperatorName], pools: Pools) -> dict[str, Any]:
    """rows: without what is an operator's own, and why C++ chooses otherwise, in words.

    operators: by number, the slots: each is the number of a row, a text, a place and an error.
    """
    rows = Pool()
    operators: dict[int, list[int]] = {}
    keys: dict[Hashable, frozenset[str]] = {}
    for number, name in enumerate(names):
        kernels = tuple(kernel.dispatch_key for kernel in state.python_kernels(name))
        alike = state.dispatcher.shape(name), kernels
        if alike not in keys:
            keys[alike] = _other_slots(state, name, kernels)
        if keys[alike]:
            operators[number] = [
                part
                for row in python_table_of(state, name, keys[alike]).entries
                for part in (
                    rows.build(row._replace(kernel=None, span=None, error=None), _row),
                    *(pools.texts.opt(row.kernel), pools.place(row.span), pools.texts.opt(row.error)),
                )
            ]
    return {"rows": rows.values, "operators": operators}


def _other_slots(state: State, name: OperatorName, kernels: tuple[str, ...]) -> frozenset[str]:
    """The slots where Python chooses a kernel in Python, or another key."""
    dispatcher = state.dispatcher
    chosen = zip(dispatcher.universe.slots, decisions(dispatcher, name, kernels), strict=True)
    in_python = {key for key, decision in chosen if chosen_key(key, decision) in kernels}
    return frozenset(in_python.union(divergence.key for divergence in divergences(dispatcher, name, kernels)))


def _row(row: PythonRow) -> Any:
    values = {name: value for name, value in data_of(row).items() if name not in _OF_OPERATOR}
    return values | {"why": None if row.differs is None else because_text(row.differs)}
