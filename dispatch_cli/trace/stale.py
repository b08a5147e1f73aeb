"""Operators whose live tables were stale in a program: which order of registrations leaves them so.

PyTorch says that the table of an operator is not what its registrations determine, but not in which slots. That follows
from the order of the registrations, where all orders that leave the table stale leave the same in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from dispatch_cli.engine.history.apply import run
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.declarations import Block, CapturedRegistration, Declarations, Implement
from dispatch_cli.model.names import OperatorName

MAX_REGISTRATIONS = 5
"""Of an operator whose orders are tried: there are 120."""
MAX_OPERATORS = 50
"""Whose orders are tried. A program has one or two of them, if any."""


class WithStaleTables(NamedTuple):
    """A state in which operators have stale tables. not_known: those of them whose slots hold what is not known."""

    state: State
    not_known: frozenset[OperatorName]


def with_stale_tables(
    state: State, source: StateSource, names: Iterable[OperatorName], block: Block
) -> WithStaleTables:
    """The state with the tables of operators as they were. block: that of the steps which register their kernels."""
    declarations, not_known = state.declarations, set()
    for number, name in enumerate(names):
        is_tried = number < MAX_OPERATORS and name in state.dispatcher
        found = _order(state, source, name, block) if is_tried else None
        if found is None:
            not_known.add(name)
        else:
            declarations = _registered(declarations, name, found)
    return WithStaleTables(run(declarations, source), frozenset(not_known))


def _order(state: State, source: StateSource, name: OperatorName, block: Block) -> Sequence[Implement] | None:
    """An order that leaves the table stale; None where none does, or where others leave something else."""
    active = state.dispatcher.active(name)
    several = any(len(found) > 1 for found in state.dispatcher.operator(name).kernels.values())
    if several or len(active) > MAX_REGISTRATIONS:
        return None
    block = block._replace(namespace=name.namespace or block.namespace)
    steps = [Implement(block, name, key, one.kernel, one.kernel.span) for key, one in active.items()]
    found: dict[object, Sequence[Implement]] = {}
    for order in permutations(steps):
        entries = run(_registered(state.declarations, name, order), source).dispatcher.stale_entries(name)
        if entries:
            found.setdefault(tuple(_held(entries)), order)
        if len(found) > 1:
            break
    return next(iter(found.values())) if len(found) == 1 else None


def _held(entries: Iterable[StaleEntry]) -> Iterator[tuple[object, ...]]:
    """What the slots hold that are stale."""
    for one in entries:
        yield one.live.key, one.live.rule, one.live.decision.source


def _registered(declarations: Declarations, name: OperatorName, order: Sequence[Implement]) -> Declarations:
    """With the kernels of an operator registered in an order, in the place of those that were captured."""
    without = tuple(CapturedRegistration(str(name), one.dispatch_key) for one in order if one.dispatch_key is not None)
    return declarations._replace(
        steps=(*declarations.steps, *order),
        inherited_steps=(*declarations.inherited_steps, *order),
        without=(*declarations.without, *without),
    )
