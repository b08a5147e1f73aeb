"""The tables of higher-order operators."""

from __future__ import annotations

from typing import Any

from dispatch_cli.answers.table.higher_order.report import HigherOrderRow, slots_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of


def higher_order_data(state: State) -> dict[str, Any]:
    """operators: each with its implementations, and the number of a row for each slot. rows: without their keys."""
    rows = Pool()
    operators = []
    for slot in slots_of(state, state.higher_order_operators):
        numbers = [rows.build(row._replace(key=""), _row) for row in slot.entries]
        operators.append(data_of(slot._replace(entries=())) | {"entries": numbers})
    return {
        "operators": operators,
        "rows": rows.values,
        "own": [operator.name for operator in state.own_higher_order_operators()],
    }


def _row(row: HigherOrderRow) -> Any:
    data = data_of(row)
    del data["key"]
    return data
