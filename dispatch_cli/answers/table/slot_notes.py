"""Notes on one slot: those of its table, and more that are made for a single slot only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.shared.notes import Note, NoteKind, table_notes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import schema_text_takes_tensors
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName, some_of, usualness
from dispatch_cli.model.text.suggest import similar
from dispatch_cli.model.universe import (
    AUTOGRAD,
    UNDEFINED,
    Universe,
    autocast_backend,
    autograd_key_of,
    autograd_keys_of,
)

META = "Meta"
ENDS = frozenset({RedispatchKind.NO, RedispatchKind.OTHER_OPERATORS})
"""The ways to go on with which a kernel does all the work."""
MAX_OVERLOADS = 4
"""Overloads that are named where an operator has none of that name."""
BATCHING = "FuncTorchBatchedDecomposition"


def backend_key_below(universe: Universe, key: str) -> str | None:
    """The Dense key of an autograd key's backend; None for other keys, and for one that stands for several backends."""
    return universe.runtime_parts[key][1] if key in universe.covered_by(AUTOGRAD) else None


def slot_notes(dispatcher: Dispatcher, name: OperatorName, key: str) -> tuple[Note, ...]:
    """The notes on one slot: first on a name that may be misspelled. Errors: Refused for an unknown operator."""
    table, schema = dispatcher.table(name), dispatcher.header(name).schema
    stale = dispatcher.stale_slots(name)
    universe = dispatcher.universe
    above = autograd_key_of(universe, key)
    shown = (key,) if above is None else (key, above)
    # what a kernel does to the autograd key above it is worth saying where the kernel is looked at
    notes = [*_of_names(dispatcher, name, table[key])]
    notes += [
        note
        for note in table_notes(dispatcher, table, schema, shown, stale)
        if note.kind is not NoteKind.INCOMPLETE and (above not in note.keys or key in note.keys or key in note.culprits)
    ]
    kinds = {note.kind for note in notes}
    notes += [Note(NoteKind.STALE, (key,), (stale[key].cause.key,))] if key in stale else []
    notes += _of_fallthrough(universe, table, key)
    notes += _of_missing(universe, table, schema, key)
    notes += _of_autograd(universe, table, key, kinds)
    notes += _of_empty(universe, table, key, notes)
    notes += not_built(dispatcher, table, (key,))
    return tuple(_about(key, note) for note in notes)


def overlay_of(dispatcher: Dispatcher, key: str) -> str | None:
    """The embedded overlay that has kernels at a backend's key, where it is not loaded."""
    base, universe = dispatcher.base, dispatcher.universe
    if base is None or key == UNDEFINED or autograd_key_of(universe, key) is None:
        return None
    component = universe.runtime_parts[key][1]
    if component is None:
        return None
    from dispatch_cli import bases

    name = f"{base.name}-{component.lower()}"
    return name if name in bases.overlay_names() and name not in base.parts else None


def not_built(dispatcher: Dispatcher, table: Table, keys: Iterable[str]) -> Iterator[Note]:
    """Notes on backends that the embedded build lacks, unless the operator has a kernel there."""
    for key in keys:
        overlay = overlay_of(dispatcher, key)
        if overlay is not None and table[key].rule is not Rule.KERNEL:
            yield Note(NoteKind.NOT_BUILT, (key,), (), overlay)


def _about(key: str, note: Note) -> Note:
    """The note with the slot in front, where it is about several."""
    if key not in note.keys or note.kind is NoteKind.SKIPPED:
        return note
    return note._replace(keys=(key, *(other for other in note.keys if other != key)))


def _of_fallthrough(universe: Universe, table: Table, key: str) -> Iterator[Note]:
    """A fallthrough of the operator's where a call ends."""
    entry = table[key]
    ends = key == UNDEFINED or autograd_key_of(universe, key) is not None
    if ends and entry.is_fallthrough and entry.decision.source is not None:
        yield Note(NoteKind.FALLS_THROUGH, (key,), (entry.decision.source,))


def _of_missing(universe: Universe, table: Table, schema: str | None, key: str) -> Iterator[Note]:
    entry = table[key]
    if key == META and _is_core(entry) and not entry.is_fallthrough:
        yield Note(NoteKind.NO_META, (key,), tuple(table.active))
    if key in universe.covered_by(BATCHING) and _is_core(entry) and not entry.is_fallthrough:
        yield Note(NoteKind.NO_BATCHING, (key,), tuple(table.active))
    if key == UNDEFINED and entry.rule is Rule.MISSING and (schema is None or schema_text_takes_tensors(schema)):
        yield Note(NoteKind.NO_TENSORS, (key,), tuple(table.active))


def _of_empty(universe: Universe, table: Table, key: str, notes: Sequence[Note]) -> Iterator[Note]:
    """An empty slot of which nothing else is said, where calls can get to it."""
    empty = table[key].rule is Rule.MISSING and not any(key in note.keys for note in notes)
    autograd = universe.covered_by(AUTOGRAD)
    if empty and (key not in autograd or any(key in autograd_keys_of(universe, slot) for slot in universe.slots)):
        backend = autocast_backend(universe, key)
        if backend is None or any(fallback.key == key for fallback in universe.fallbacks):
            yield Note(NoteKind.UNREGISTERED, (key,), tuple(table.active))
        else:
            below = (active for active in table.active if universe.runtime_parts.get(active, ("", None))[1] == backend)
            yield Note(NoteKind.NO_AUTOCAST, (key,), tuple(below))


def _of_autograd(universe: Universe, table: Table, key: str, noted: set[NoteKind]) -> Iterator[Note]:
    if key not in universe.covered_by(AUTOGRAD):
        return
    entry, below = table[key], backend_key_below(universe, key)
    backends = tuple(backend for backend in table.active if autograd_key_of(universe, backend) == key)
    if below is not None and table[below].rule is Rule.DEFAULT:
        backends = backends or (table[below].decision.source or below,)
    # of an operator without any kernel all that is known may be that it is so
    if _is_core(entry) and not entry.is_fallthrough and (backends or not table.active):
        yield Note(NoteKind.NO_DERIVATIVE, (key,), backends)
    elif entry.rule is Rule.MISSING and NoteKind.DISPLACED not in noted and backends:
        yield Note(NoteKind.NO_AUTOGRAD, (key,), backends)
    elif below is not None and _is_declared(entry) and not _goes_on(entry) and _serves_any(table[below]):
        yield Note(NoteKind.SKIPPED, (key, below), (entry.decision.source or key,))


def _is_core(entry: TableEntry) -> bool:
    """True if one of PyTorch's own backend fallbacks is in the slot."""
    kernel = entry.kernel
    return entry.rule is Rule.FALLBACK and kernel is not None and kernel.span is None


def _is_declared(entry: TableEntry) -> bool:
    """True if a file registers the slot's autograd kernel; what PyTorch has there, it has for good reason."""
    kernel = entry.kernel
    return entry.rule in (Rule.KERNEL, Rule.AUTOGRAD) and kernel is not None and kernel.span is not None


def _goes_on(entry: TableEntry) -> bool:
    """True if a call is known to go on to the operator's other kernels, or to get nowhere."""
    kernel = entry.kernel
    if kernel is None or kernel.fallthrough:
        return True
    return kernel.redispatches is not None and kernel.redispatches.kind not in ENDS


def _serves_any(entry: TableEntry) -> bool:
    """True if no kernel was written for this backend: nothing is there, or what serves any backend."""
    return entry.rule in (Rule.DEFAULT, Rule.MATH, Rule.FALLBACK, Rule.MISSING)


def _of_names(dispatcher: Dispatcher, name: OperatorName, entry: TableEntry) -> Iterator[Note]:
    """A kernel under a mistyped name: one operator has no schema, another has one and no kernel for the slot."""
    operator = dispatcher.operator(name)
    lacks_schema = operator.definition is None
    if not lacks_schema and operator.kernels and entry.decision.source is not None:
        return
    overloads = _overloads(dispatcher, name) if lacks_schema else ()
    if overloads:
        yield Note(NoteKind.OVERLOADS, (), tuple(operator.kernels), some_of(overloads, MAX_OVERLOADS))
        return
    filling = {key for key in dispatcher.universe.aliases if entry.key in dispatcher.universe.covered_by(key)}
    for near in _near(dispatcher, name):
        if lacks_schema and near.definition is not None:
            yield Note(NoteKind.NEAR_NAME, (), tuple(operator.kernels or near.kernels), str(near.name))
            return
        fills = not operator.kernels or not filling.union((entry.key,)).isdisjoint(near.kernels)
        if not lacks_schema and near.definition is None and fills:
            yield Note(NoteKind.NEAR_KERNELS, (), tuple(near.kernels), str(near.name))
            return


def _near(dispatcher: Dispatcher, name: OperatorName) -> Iterator[Operator]:
    """Operators of almost the same name. Those of a base have schemas: for one with a schema they do not count."""
    others = dispatcher.names() if dispatcher.operator(name).definition is None else map(str, dispatcher.present())
    for near in similar(str(name), sorted({*others} - {str(name)}), 3, cutoff=0.8):
        if (operator := dispatcher.find(OperatorName.parse(near))) is not None:
            yield operator


def _overloads(dispatcher: Dispatcher, name: OperatorName) -> tuple[str, ...]:
    """The overloads of an operator that have a schema, the usual ones first."""
    candidates = (OperatorName.parse(text) for text in dispatcher.names() if text.startswith(name.name))
    overloads = sorted(
        (other for other in candidates if other.name == name.name), key=lambda it: usualness(it.overload)
    )
    return tuple(str(other) for other in overloads if dispatcher.operator(other).definition is not None)
