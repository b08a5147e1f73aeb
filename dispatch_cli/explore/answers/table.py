"""The table of an operator as a report and a document, and a sentence on the slots of a row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from dispatch_cli.answers.shared.slot_row import Folded, TableRow
from dispatch_cli.answers.table import document as table_document
from dispatch_cli.answers.table.report import changed_slots, table_report
from dispatch_cli.answers.table.wording import answer_text
from dispatch_cli.engine.state import State
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import DEFAULT_OVERLOAD, HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Fact, MatrixCell

DEFAULT_KEY = "CPU"
"""Key under the cursor as long as none was chosen."""
Report = TypeVar("Report")


class TableOptions(NamedTuple):
    """Display options of a table.

    grid: functionalities by backends. every: one row for each slot. keys: a glob, or a part of the keys' names; empty
    for all keys.
    """

    grid: bool = False
    every: bool = False
    keys: str = ""

    @property
    def glob(self) -> str:
        """The glob by which keys are chosen; empty for all keys."""
        return self.keys if not self.keys or any(sign in self.keys for sign in "*?[") else f"*{self.keys}*"


def table_answer(session: Session, spot: Spot, options: TableOptions = TableOptions()) -> PaneAnswer | None:  # noqa: B008
    """The table of the operator at a spot; None where there is none, and where no key matches."""
    state = session.state
    keys = None
    if options.glob:
        from dispatch_cli.answers.shared.selection import select_keys

        keys = select_keys(state.dispatcher.universe, (options.glob,))
        if not keys:
            return None
    if spot.higher_order is not None:
        operator = state.higher_order_operator(spot.higher_order)
        if operator is None:
            return None
        from dispatch_cli.answers.table.higher_order_report import slots_of

        report = table_report(state, (), keys, slots_of(state, (operator,), keys))
    else:
        if spot.operator is None or spot.operator not in state.dispatcher:
            return None
        report = table_report(state, (spot.operator,), keys)
    return PaneAnswer(whole(report), session.command("table", *_arguments(session, spot, options)))


def _arguments(session: Session, spot: Spot, options: TableOptions) -> tuple[str, ...]:
    chosen = ["--op", operator_glob(session, spot)]
    if options.glob:
        chosen += ["--key", options.glob]
    if options.grid and spot.higher_order is None:
        chosen += ["--view", "grid"]
    elif options.every:
        chosen.append("--full")
    elif not options.glob and spot.higher_order is None:
        chosen += ["--view", "rows"]
    return tuple(chosen)


def operator_glob(session: Session, spot: Spot) -> str:
    """Argument of ``--op`` that chooses the operator at a spot, and no other."""
    if spot.operator is None:
        return f"{HIGHER_ORDER_NAMESPACE}::{spot.higher_order}"
    name, names = str(spot.operator), _names(session.state)
    after = bisect_left(names, f"{name}.")
    overloads = after < len(names) and names[after].startswith(f"{name}.")
    return exact(spot.operator) if overloads else name


def exact(name: OperatorName) -> str:
    """A name as a glob that finds no other overload."""
    return str(name) if name.overload else f"{name}{DEFAULT_OVERLOAD}"


@lru_cache(maxsize=2)
def _names(state: State) -> list[str]:
    """The names of all operators, sorted, which takes a while."""
    return state.dispatcher.names()


def with_key(session: Session, spot: Spot, last: str | None) -> Spot:
    """A spot with a key: its own, else the last one, or the first of those that are changed where that is none."""
    if spot.key is not None:
        return spot
    name, state = spot.operator, session.state
    changed = changed_slots(state, name) if name is not None and name in state.dispatcher else {}
    if changed and last not in changed:
        last = min(changed, key=state.dispatcher.universe.slot.__getitem__)
    return spot._replace(key=last or DEFAULT_KEY)


def whole(report: Report) -> Report:
    """A report (a dataclass) with tuples in the place of its iterators."""
    instance: Any = report
    values = ((field.name, getattr(instance, field.name)) for field in fields(instance))
    result: Report = replace(instance, **{name: tuple(value) for name, value in values if isinstance(value, Iterator)})
    return result


class ShownKeys(NamedTuple):
    """Content of a row or a cell: slots with one answer, or the places of an implementation.

    row: of the report, which speaks for all of them.
    """

    keys: tuple[str, ...]
    row: Any


def place_of(item: Any) -> ShownKeys | None:
    """Place that a row or a cell of a table leads to."""
    if isinstance(item, MatrixCell):
        item = item.target
    if isinstance(item, Folded):
        return ShownKeys(item.keys, item.answer)
    if isinstance(item, TableRow):
        return ShownKeys((item.key,), item)
    if isinstance(item, Fact) and isinstance(item.link, list):
        return ShownKeys(tuple(row.key for row in item.link), item.link[0])
    if isinstance(item, list) and item and hasattr(item[0], "registered_at"):
        # implementations of a higher-order operator, as ``explain`` names them
        row = item[0]
        return ShownKeys((f"{row.kind.value}={row.name}",) if row.name else tuple(row.registered_at), row)
    return None


def table_blocks(report: Any, universe: Universe, options: TableOptions) -> Iterator[Block]:
    """The document of a table's report."""
    if options.grid and report.operators:
        from dispatch_cli.answers.table import grid_document

        return grid_document.document(report, universe=universe)
    rows = table_document.Rows.EVERY_SLOT if options.every else table_document.Rows.FOLDED
    return table_document.document(report, universe=universe, rows=rows)


def sentence_of(place: ShownKeys, key: str | None) -> str:
    """Sentence on the slots of a row or a cell. key: of the slot where the user is."""
    if not isinstance(place.row, TableRow):
        return ""
    here = key if key is not None and key in place.keys else place.keys[0]
    several = f"Of {len(place.keys)} slots with this answer: " if len(place.keys) > 1 else ""
    return f"{several}{answer_text(place.row._replace(key=here))}"
