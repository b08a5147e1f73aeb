"""The table of an operator."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table.report import changed_slots as changed_by_files
from dispatch_cli.answers.table.report import table_report
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.table import changed_slots
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import DEFAULT_OVERLOAD, HIGHER_ORDER_NAMESPACE, OperatorName

DEFAULT_KEY = "CPU"
"""Key under the cursor as long as none was chosen."""


class Resolver(Enum):
    """Whose choices a table shows; the value is the one of ``--resolver``."""

    CPP = "cpp"
    DIFFERENCES = "differences"


class TableOptions(NamedTuple):
    """Display options of a table.

    grid: functionalities by backends. every: one row for each slot. keys: a glob, or a part of the keys' names; empty
    for all keys.
    """

    grid: bool = False
    every: bool = False
    resolver: Resolver = Resolver.CPP
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
        from dispatch_cli.answers.table.higher_order.report import slots_of

        resolver = Resolver.CPP
        report: object = whole(table_report(state, (), keys, slots_of(state, (operator,), keys)))
    else:
        name, resolver = spot.operator, options.resolver
        if name is None or name not in state.dispatcher:
            return None
        report = _report(state, name, resolver, keys)
    return PaneAnswer(report, session.command("table", *_arguments(session, spot, options, resolver)))


def _report(state: State, name: OperatorName, resolver: Resolver, keys: frozenset[str] | None) -> object:
    if resolver is Resolver.CPP:
        return whole(table_report(state, (name,), keys))
    from dispatch_cli.answers.table.differences import differences_report

    return whole(differences_report(state, (name,), keys))


def _arguments(session: Session, spot: Spot, options: TableOptions, resolver: Resolver) -> tuple[str, ...]:
    chosen = ["--op", operator_glob(session, spot)]
    if options.glob:
        chosen += ["--key", options.glob]
    if resolver is not Resolver.CPP:
        chosen += ["--resolver", resolver.value]
    if options.grid and resolver is Resolver.CPP and spot.higher_order is None:
        chosen += ["--view", "grid"]
    elif options.every and resolver is not Resolver.DIFFERENCES:
        chosen.append("--full")
    elif not options.glob and resolver is Resolver.CPP and spot.higher_order is None:
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


def said_once(row: TableRow, was: Before | None) -> TableRow:
    """A row without what its slot held before the files, where it held the same before the changes on trial (*was*)."""
    return row._replace(before=None) if was is not None and row.before == was else row


def with_key(session: Session, spot: Spot, last: str | None) -> Spot:
    """A spot with a key: its own, else the last one, or the first of those that are changed where that is none."""
    if spot.key is not None:
        return spot
    name, state = spot.operator, session.state
    changed: set[str] = set()
    if name is not None and name in state.dispatcher:
        changed = {*tried_slots(session, name), *changed_by_files(state, name)}
    if changed and last not in changed:
        last = min(changed, key=state.dispatcher.universe.slot.__getitem__)
    return spot._replace(key=last or DEFAULT_KEY)


def tried_slots(session: Session, name: OperatorName) -> Mapping[str, Before]:
    """Answers of the original state's slots to calls, for the slots to which changes on trial have given another."""
    before, after = session.original, session.state
    if before is after or name not in before.dispatcher or name not in after.dispatcher:
        return {}
    answers = {}
    tables = [state.dispatcher.live_table(name) for state in (before, after)]
    for was, became in changed_slots(*tables):
        kernel = was.kernel
        answers[became.key] = Before(was.rule, kernel.label if kernel else None, was.is_fallthrough)
    return answers


Report = TypeVar("Report")


def whole(report: Report) -> Report:
    """A report (a dataclass) with tuples in the place of its iterators."""
    instance: Any = report
    values = ((field.name, getattr(instance, field.name)) for field in fields(instance))
    result: Report = replace(instance, **{name: tuple(value) for name, value in values if isinstance(value, Iterator)})
    return result
