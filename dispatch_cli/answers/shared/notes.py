"""Notes about a table beyond its rows: why a slot is not what one would expect."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Set
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.table.registration import schema_text_takes_tensors
from dispatch_cli.engine.table.table import Table, TableEntry, bypassed, unreachable_without_tensors
from dispatch_cli.model.universe import AUTOGRAD_OTHER, CATCH_ALL, UNDEFINED, Universe


class NoteKind(Enum):
    """The kinds of notes; the value is the name in machine formats."""

    AMBIGUOUS = "ambiguous"
    DISPLACED = "displaced"
    BYPASSED = "bypassed"
    SHADOWED = "shadowed"
    UNREACHABLE = "unreachable"
    UNCOVERED = "uncovered"
    UNREGISTERED = "unregistered"
    NO_DERIVATIVE = "no-derivative"
    NO_AUTOGRAD = "no-autograd"
    NO_AUTOCAST = "no-autocast"
    NO_META = "no-meta"
    NO_BATCHING = "no-batching"
    NO_TENSORS = "no-tensors"
    FALLS_THROUGH = "falls-through"
    SKIPPED = "skipped"
    STALE = "stale"
    NEAR_NAME = "near-name"
    NEAR_KERNELS = "near-kernels"
    OVERLOADS = "overloads"
    INCOMPLETE = "incomplete"
    NOT_BUILT = "not-built"


class Note(NamedTuple):
    """One thing to say.

    keys: the slots it is about. culprits: the keys whose kernels are behind it.
    detail: the backend fallback that is not asked (SHADOWED); the key where a kernel would displace it (BYPASSED); the
    other operator (NEAR_NAME, NEAR_KERNELS); the overloads that have a schema (OVERLOADS).

    AMBIGUOUS: a math kernel and the culprits' share the slot. DISPLACED: the culprits take it from the math kernel.
    BYPASSED: the math kernel fills it although the culprits, other keys of the same backend, have kernels.
    SHADOWED: a declared fallback is there, but the alias keys come first. UNREACHABLE: without tensor arguments a call
    ends at Undefined, where nothing is, and the culprits, keys that only tensors bring, are never reached.
    UNCOVERED: nothing is there, and the culprits, alias keys with a kernel, do not cover it.
    INCOMPLETE: what is there is not known, because the overlays (detail) lack what is registered by hand at the
    culprits.

    The others are said of one slot alone, see `slot_notes`. UNREGISTERED: nothing is there, and no alias key has a
    kernel either. NO_DERIVATIVE: PyTorch's own autograd fallback is all there is above the culprits' kernels.
    NO_AUTOGRAD: not even that. NO_AUTOCAST: nothing is at a backend's autocast key, nor has PyTorch a fallback there.
    NO_META: PyTorch's fallback at Meta, which raises. NO_BATCHING: PyTorch's fallback,
    which loops over the batch. NO_TENSORS: nothing is at Undefined, where a call ends that has no tensor among its
    arguments. FALLS_THROUGH: the culprit's fallthrough fills the slot, and no key is below. SKIPPED: the culprit's
    kernel is at the autograd keys alone; inference mode leaves them out. STALE: the live table holds something else;
    the culprit is the key whose change left it behind. NEAR_NAME: it has the culprits' kernels
    and no schema, and an operator of almost the same name has one. OVERLOADS: others of its name have one.
    NEAR_KERNELS: it has no kernel for the slot, and an operator of almost the same name has the culprits' and no
    schema.
    NOT_BUILT: the embedded builds have no kernels of the slot's backend; an overlay (detail) has some.
    """

    kind: NoteKind
    keys: tuple[str, ...]
    culprits: tuple[str, ...]
    detail: str = ""


def table_notes(
    dispatcher: Dispatcher, table: Table, schema: str | None, shown: Iterable[str], stale: Container[str]
) -> tuple[Note, ...]:
    """The notes on a table.

    schema: the operator's, as text. shown: the keys that notes may be about. stale: keys whose live entry is another;
    what the table says of calls there, such as a fallback that is not asked, does not hold.
    """
    entries = {key: table[key] for key in shown}
    return (
        *_taken(dispatcher, entries.values()),
        *_bypassed(dispatcher, table, entries),
        *_shadowed(dispatcher, {key: entry for key, entry in entries.items() if key not in stale}),
        *_unreachable(dispatcher.universe, table, schema, entries.keys(), stale),
        *_uncovered(dispatcher, table, entries),
        *_incomplete(dispatcher, entries),
    )


def _incomplete(dispatcher: Dispatcher, entries: Mapping[str, TableEntry]) -> Iterator[Note]:
    if dispatcher.base is None or not dispatcher.layout.incomplete:
        return
    unknown, keys = 0, []
    for key, entry in entries.items():
        if entry.rule is Rule.NOT_KNOWN:
            unknown |= entry.decision.blockers
            keys.append(key)
    if keys:
        overlays = ", ".join(dispatcher.base.parts[1:])
        yield Note(NoteKind.INCOMPLETE, tuple(keys), dispatcher.keys_in(unknown), overlays)


def _grouped(kind: NoteKind, pairs: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[Note]:
    """One note for all keys with the same culprits."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, culprits in pairs:
        groups.setdefault(culprits, []).append(key)
    for culprits, keys in groups.items():
        yield Note(kind, tuple(keys), culprits)


def _taken(dispatcher: Dispatcher, entries: Iterable[TableEntry]) -> Iterator[Note]:
    blocked = [entry for entry in entries if entry.decision.blockers and entry.rule is not Rule.NOT_KNOWN]
    for kind in (NoteKind.AMBIGUOUS, NoteKind.DISPLACED):
        of_kind = (entry for entry in blocked if (entry.rule is Rule.AMBIGUOUS) == (kind is NoteKind.AMBIGUOUS))
        yield from _grouped(kind, ((entry.key, dispatcher.keys_in(entry.decision.blockers)) for entry in of_kind))


def _bypassed(dispatcher: Dispatcher, table: Table, entries: Mapping[str, TableEntry]) -> Iterator[Note]:
    """Tensors of several backend keys carry one autograd key, which looks at few of them, often the Dense one alone."""
    universe = dispatcher.universe
    kernels = [key for key, registration in table.active.items() if not registration.kernel.fallthrough]
    by_key = bypassed(universe, kernels, lambda key: table[key].decision, lambda key: table[key].is_fallthrough)
    for key in universe.covered_by("Autograd"):
        if key in by_key and key in entries:
            # a kernel at a backend of AutogradOther would not take it away, but make it ambiguous
            counting = () if key == AUTOGRAD_OTHER else universe.autograd_backends.get(key, ())
            yield Note(NoteKind.BYPASSED, (key,), by_key[key], ", ".join(counting))


def _shadowed(dispatcher: Dispatcher, entries: Mapping[str, TableEntry]) -> Iterator[Note]:
    for key, fallback in dispatcher.fallbacks.items():
        entry = entries.get(key)
        if entry is None or fallback.kernel.span is None:
            continue
        if entry.rule not in (Rule.FALLBACK, Rule.KERNEL, Rule.NOT_KNOWN):
            yield Note(NoteKind.SHADOWED, (key,), (entry.decision.source or CATCH_ALL,), fallback.kernel.debug)


def _unreachable(
    universe: Universe, table: Table, schema: str | None, shown: Set[str], stale: Container[str]
) -> Iterator[Note]:
    """Kernels of a factory that no call gets to."""
    if schema is None or schema_text_takes_tensors(schema):
        return
    kernels = unreachable_without_tensors(
        universe, table.active, lambda key: table[key].decision, lambda key: table[key].is_fallthrough
    )
    known = not any(key in stale for key in (UNDEFINED, *universe.default_included))
    if kernels and known and not shown.isdisjoint((UNDEFINED, *kernels)):
        yield Note(NoteKind.UNREACHABLE, (UNDEFINED,), kernels)


def _uncovered(dispatcher: Dispatcher, table: Table, entries: Mapping[str, TableEntry]) -> Iterator[Note]:
    universe = dispatcher.universe
    composite = [step.alias for step in PRECEDENCE if step.rule in (Rule.DEFAULT, Rule.NESTED, Rule.MATH)]
    culprits = tuple(alias for alias in composite if alias in table.active)
    if not culprits:
        return
    coverable = {key for alias in composite for key in universe.covered_by(alias)}
    coverable -= set(universe.covered_by("Autograd"))
    missing = (
        key
        for key, entry in entries.items()
        if entry.rule is Rule.MISSING and not entry.decision.blockers and key in coverable
    )
    yield from _grouped(NoteKind.UNCOVERED, ((key, culprits) for key in missing))
