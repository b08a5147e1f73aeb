"""One operator at a key without a slot, explained: an alias key, or a functionality that has a slot per backend."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, NamedTuple

from dispatch_cli.answers.shared.folding import Folded, KeyRuns, alike, runs_of
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.report import changed_slots, row_of
from dispatch_cli.engine.dispatcher.runners_up import filled_by
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import PRECEDENCE
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED, Universe


class Registered(NamedTuple):
    """A kernel registered at the key; all but the first are overridden."""

    kernel: str
    fallthrough: bool
    active: bool
    span: Span | None


class AliasExplanation(NamedTuple):
    """An alias key.

    fills: the slots that its kernel fills, or would fill if there were one (`registered` is empty then).
    lost: the slots that it covers and does not fill, by what fills them instead. uncovered: the other slots.
    stale: the covered slots whose live entry is another.
    """

    key: str
    registered: tuple[Registered, ...]
    fills: KeyRuns
    lost: tuple[Folded[TableRow], ...]
    uncovered: KeyRuns
    stale: tuple[Folded[TableRow], ...]
    kind: Literal["alias"] = "alias"


class BlockExplanation(NamedTuple):
    """A functionality that has a slot per backend and none of its own. slots: what is in these."""

    key: str
    registered: tuple[Registered, ...]
    slots: tuple[Folded[TableRow], ...]
    kind: Literal["functionality"] = "functionality"


def explain_alias(state: State, name: OperatorName, alias: str) -> AliasExplanation:
    """Explain an alias key. Errors: Refused for an unknown operator."""
    dispatcher, universe = state.dispatcher, state.dispatcher.universe
    covered = _covered(universe, alias)
    fills = frozenset(filled_by(dispatcher, name, alias))
    rows = _rows(state, name, covered)
    return AliasExplanation(
        key=alias,
        registered=_registered(state, name, alias),
        fills=runs_of((key for key in covered if key in fills), universe.slot),
        lost=alike((row for row in rows if row.key not in fills), _answer),
        uncovered=runs_of((key for key in universe.slots if key not in covered), universe.slot),
        stale=alike((row for row in rows if row.stale), _answer),
    )


def explain_block(state: State, name: OperatorName, functionality: str) -> BlockExplanation:
    """Explain a functionality that is not a runtime key itself. Errors: Refused for an unknown operator."""
    keys = state.dispatcher.universe.per_backend[functionality]
    rows = _rows(state, name, keys)
    return BlockExplanation(functionality, _registered(state, name, functionality), alike(rows, _answer))


def _covered(universe: Universe, alias: str) -> tuple[str, ...]:
    fills_undefined = any(row.alias == alias and row.fills_undefined for row in PRECEDENCE)
    return ((UNDEFINED,) if fills_undefined else ()) + universe.covered_by(alias)


def _registered(state: State, name: OperatorName, key: str) -> tuple[Registered, ...]:
    registrations = state.dispatcher.operator(name).kernels.get(key, ())
    return tuple(
        Registered(registration.kernel.label, registration.kernel.fallthrough, position == 0, registration.kernel.span)
        for position, registration in enumerate(registrations)
    )


def _rows(state: State, name: OperatorName, keys: tuple[str, ...]) -> tuple[TableRow, ...]:
    dispatcher = state.dispatcher
    table = dispatcher.table(name)
    stale = dispatcher.stale_slots(name)
    before = changed_slots(state, name)
    return tuple(row_of(state, table[key], stale.get(key), before.get(key)) for key in keys)


def _answer(row: TableRow) -> Hashable:
    """PyTorch's own fallbacks are one answer."""
    kernel = None if row.core_fallback else (row.kernel, row.span)
    live = row.stale, row.live_kernel if row.stale else None
    return row.rule, kernel, row.fallthrough, live, row.before, row.blockers
