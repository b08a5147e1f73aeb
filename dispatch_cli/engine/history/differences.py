"""The difference of two states, as named changes.

Between checkpoints of one dispatcher, only what changed on the way is looked at. Between dispatchers over one captured
state, only the operators that either has taken in. Things are compared by what they say and where it is declared, and
not by when they were registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Checkpoint, Dispatcher
from dispatch_cli.engine.history.difference import (
    ChangeKind,
    DefinitionDifference,
    Difference,
    FallbackDifference,
    HigherOrderDifference,
    KernelDifference,
    LibraryDifference,
    PythonKernelDifference,
    SlotDifference,
    StaleDifference,
)
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import MISSING
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import Definition, LibraryHold, Registration
from dispatch_cli.engine.table.table import Table, TableEntry, answer, changed_slots
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

Side = Dispatcher | Checkpoint | State


def differences(before: Side, after: Side, operators: Iterable[OperatorName] = ()) -> tuple[Difference, ...] | None:
    """Differences of *after* from *before*; None where there are none.

    Libraries and fallbacks first, then operator by operator, then higher-order operators (of a `State`, which has
    Python kernels and higher-order operators besides). A fallback that is different can change slots of operators for
    which nothing else has changed: of those that are named as *operators* these slots are among the answers too.
    Dispatchers are left as they are. Errors: ValueError for states whose universes have
    different keys.
    """
    sides = (_dispatcher(before), _dispatcher(after))
    old_keys, new_keys = (side.universe for side in sides)
    if old_keys is not new_keys and old_keys.ids != new_keys.ids:
        raise ValueError(f"states of {old_keys.name} and {new_keys.name} cannot be compared: their keys differ")
    changed, asked = _candidates(before, after), tuple(operators)
    names = {*changed.operators, *asked}
    old, new = (_seen(side, names, changed.live_tables) for side in (before, after))
    result = [*_libraries(old, new), *_fallbacks(sides[0], old, new)]
    python_kernels = _python_kernels(before, after)
    for name in sorted({*names, *changed.live_tables, *python_kernels}, key=str):
        was, became = old.operators.get(name, _NOTHING), new.operators.get(name, _NOTHING)
        if name in changed.operators:
            result += _registered(sides[0], name, was, became)
        result += python_kernels.get(name, ())
        if name in names:
            result += _slots(name, was, became)
        result += _stale(sides[0], name, was, became)
    result += _higher_order(before, after)
    return tuple(result) or None


class _OperatorState(NamedTuple):
    """The parts of an operator that are compared. kernels: newest first."""

    definition: Definition | None = None
    kernels: Mapping[str, tuple[Kernel, ...]] = {}
    table: Table | None = None
    stale: Mapping[str, StaleEntry] = {}


_NOTHING = _OperatorState()


class _Seen(NamedTuple):
    """The parts of a state that are compared."""

    libraries: Mapping[str, LibraryHold]
    fallbacks: Mapping[str, Registration]
    operators: Mapping[OperatorName, _OperatorState]


class _Candidates(NamedTuple):
    """operators: those that may be different. live_tables: those whose live tables may be, and nothing else."""

    operators: set[OperatorName]
    live_tables: set[OperatorName]


def _dispatcher(side: Side) -> Dispatcher:
    return side if isinstance(side, Dispatcher) else side.dispatcher


def _candidates(before: Side, after: Side) -> _Candidates:
    first, other = _dispatcher(before), _dispatcher(after)
    points = [side if isinstance(side, Checkpoint) else None for side in (before, after)]
    if first is other:
        operators, fallbacks = first.changed_between(*points)
        # a fallback that came and went has refreshed its slot in every operator's live table
        return _Candidates(operators, first.present() if fallbacks else set())
    operators = set()
    for dispatcher, point in ((first, points[0]), (other, points[1])):
        operators |= set(dispatcher) if first.base is not other.base else dispatcher.present()
        operators |= dispatcher.changed_between(point, None)[0]
    return _Candidates(operators, set())


@contextmanager
def _at(side: Side) -> Iterator[Dispatcher]:
    """The dispatcher in the state that is meant; it is back in its own afterwards."""
    dispatcher = _dispatcher(side)
    now = dispatcher.checkpoint()
    if isinstance(side, Checkpoint):
        dispatcher.restore(side)
    try:
        yield dispatcher
    finally:
        dispatcher.restore(now)


def _seen(side: Side, names: Iterable[OperatorName], live_tables: Iterable[OperatorName]) -> _Seen:
    with _at(side) as dispatcher:
        operators = {name: _operator(dispatcher, name) for name in names if name in dispatcher}
        for name in live_tables:
            if name not in operators and name in dispatcher:
                operators[name] = _NOTHING._replace(stale=dispatcher.stale_slots(name))
        return _Seen(dict(dispatcher.libraries), dict(dispatcher.fallbacks), operators)


def _operator(dispatcher: Dispatcher, name: OperatorName) -> _OperatorState:
    table, stale = dispatcher.table(name), dispatcher.stale_slots(name)
    operator = dispatcher.operator(name)
    kernels = {key: tuple(entry.kernel for entry in group) for key, group in operator.kernels.items()}
    return _OperatorState(operator.definition, kernels, table, stale)


def _libraries(old: _Seen, new: _Seen) -> Iterator[Difference]:
    for namespace in sorted({*old.libraries, *new.libraries}):
        before, after = old.libraries.get(namespace), new.libraries.get(namespace)
        if _content(before) != _content(after):
            yield LibraryDifference(namespace, before, after)


def _fallbacks(dispatcher: Dispatcher, old: _Seen, new: _Seen) -> Iterator[Difference]:
    for key in sorted({*old.fallbacks, *new.fallbacks}, key=dispatcher.universe.slot.__getitem__):
        before, after = (side.fallbacks[key].kernel if key in side.fallbacks else None for side in (old, new))
        if before != after:
            yield FallbackDifference(key, before, after)


def _registered(
    dispatcher: Dispatcher, name: OperatorName, old: _OperatorState, new: _OperatorState
) -> Iterator[Difference]:
    if _content(old.definition) != _content(new.definition):
        yield DefinitionDifference(name, old.definition, new.definition)
    for key in sorted({*old.kernels, *new.kernels}, key=dispatcher.universe.ids.__getitem__):
        before, after = old.kernels.get(key, ()), new.kernels.get(key, ())
        if before != after:
            yield _kernel_difference(name, key, before, after)


def _kernel_difference(
    name: OperatorName, key: str, before: tuple[Kernel, ...], after: tuple[Kernel, ...]
) -> KernelDifference:
    came, went = _beyond(after, before), _beyond(before, after)
    if not before or not after:
        kind = ChangeKind.REMOVED if before else ChangeKind.ADDED
    elif before[0] == after[0]:
        kind = ChangeKind.BENEATH
    else:
        kind = ChangeKind.REPLACED if after[0] in came else ChangeKind.REACTIVATED
    return KernelDifference(
        name, key, kind, before[0] if before else None, after[0] if after else None, tuple(came), tuple(went)
    )


def _beyond(kernels: tuple[Kernel, ...], others: tuple[Kernel, ...]) -> list[Kernel]:
    """Kernels that the others do not have, or not so often; of equal ones the newest."""
    return beyond(reversed(kernels), others, lambda kernel: kernel)[::-1]


def _content(item: Definition | LibraryHold | None) -> tuple[object, ...] | None:
    if isinstance(item, Definition):
        return item.schema, item.debug, item.alias_analysis, item.tags, item.python_module, item.span
    return None if item is None else (item.debug, item.span)


def _slots(name: OperatorName, old: _OperatorState, new: _OperatorState) -> Iterator[Difference]:
    if old.table is not None and new.table is not None:
        for before, after in changed_slots(old.table, new.table):
            yield SlotDifference(name, before.key, before, after)
        return
    for entry in (old.table or new.table or {}).values():
        if entry.kernel is not None:
            missing = TableEntry(entry.key, MISSING, None)
            pair = (entry, missing) if new.table is None else (missing, entry)
            yield SlotDifference(name, entry.key, *pair)


def _stale(
    dispatcher: Dispatcher, name: OperatorName, old: _OperatorState, new: _OperatorState
) -> Iterator[Difference]:
    for key in sorted({*old.stale, *new.stale}, key=dispatcher.universe.slot.__getitem__):
        before, after = old.stale.get(key), new.stale.get(key)
        if _stale_content(before) != _stale_content(after):
            yield StaleDifference(name, key, before, after)


def _stale_content(entry: StaleEntry | None) -> tuple[object, ...] | None:
    if entry is None:
        return None
    cause = entry.cause
    return answer(entry.live), answer(entry.canonical), cause.key, cause.cause.kernel, cause.came, cause.fallback


def _python_kernels(before: Side, after: Side) -> dict[OperatorName, list[Difference]]:
    if not isinstance(before, State) or not isinstance(after, State):
        return {}
    names = {kernel.operator for state in (before, after) for kernel in state.declarations.python_kernels}
    if before.source is not after.source:
        sources = (state.source for state in (before, after) if state.source is not None)
        names |= {OperatorName.parse(name) for source in sources for name in source.names}
    changes: dict[OperatorName, list[Difference]] = {}
    for name in names:
        old, new = ({kernel.dispatch_key: kernel for kernel in state.python_kernels(name)} for state in (before, after))
        for key in sorted({*old, *new}, key=before.dispatcher.universe.ids.__getitem__):
            if old.get(key) != new.get(key):
                changes.setdefault(name, []).append(PythonKernelDifference(name, key, old.get(key), new.get(key)))
    return changes


def _higher_order(before: Side, after: Side) -> Iterator[Difference]:
    if not isinstance(before, State) or not isinstance(after, State):
        return
    old, new = (
        {
            operator.name: operator._replace(is_own=True, of_pytorch=False, of_unknown=False)
            for operator in state.higher_order_operators
        }
        for state in (before, after)
    )
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield HigherOrderDifference(name, old.get(name), new.get(name))
