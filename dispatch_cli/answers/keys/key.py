"""One dispatch key in depth, and the key set of an expression."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.keys.report import ThreadDefault, thread_default
from dispatch_cli.engine.keys.expression import ExpressionNote, KeyExpression, evaluate
from dispatch_cli.engine.keys.keyset import COMPONENT, DispatchKeySet, KeySet, hexadecimal, key_set_of
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.table.layout import KeyLayout, layout_of
from dispatch_cli.model.universe import UNDEFINED, Universe, autograd_keys_of


class KeyKind(Enum):
    """Kind of a key."""

    RUNTIME = "runtime key"
    ALIAS = "alias key"
    FUNCTIONALITY = "functionality"
    BACKEND = "backend component"
    UNDEFINED = "undefined"


def kind_of(universe: Universe, key: str) -> KeyKind | None:
    """Kind of *key* in *universe*, as ``CPUBit`` a backend component; None when it is no key there."""
    if key == UNDEFINED:
        return KeyKind.UNDEFINED
    if key in universe.slot:
        return KeyKind.RUNTIME
    if key in universe.aliases:
        return KeyKind.ALIAS
    if key in universe.ids:
        return KeyKind.FUNCTIONALITY
    is_backend = key.endswith(COMPONENT) and key.removesuffix(COMPONENT) in universe.backends
    return KeyKind.BACKEND if is_backend else None


class Filler(NamedTuple):
    """An alias key that fills the slot: the rule by which it does, and at which keys a kernel stops it.

    yields_to: a kernel at one of these takes the slot away; ambiguous_with: one at these makes it ambiguous.
    """

    alias: str
    rule_number: int
    rule: Rule
    yields_to: tuple[str, ...]
    ambiguous_with: tuple[str, ...]


class KeyFallback(NamedTuple):
    """PyTorch's own backend fallback of a key."""

    kernel: str
    fallthrough: bool


@dataclass(frozen=True, slots=True)
class KeyReport:
    """Report on a key; fields that do not apply to its kind are None or empty.

    functionality, backend: of a runtime key, and what a building block itself is. priority: of the functionality, 1 the
        lowest. raw: its bits in a key set.
    keys: what an alias covers; the runtime keys of a functionality or of a backend.
    rule, rule_number: by which an alias fills slots. filled_by: the alias keys that fill its slot.
    autograd_keys: those that a tensor of this backend has. backend_of: the autograd keys that have it as a backend.
    autograd_backends: the backend keys of an autograd key.
    can_change: the slots that a kernel there can change; recomputes: those that PyTorch recomputes then; leaves_behind:
        those that it can change and PyTorch does not recompute.
    default: what a fresh thread does with it.
    """

    REPORT: ClassVar[str] = "key"

    universe: str
    torch: str
    key: str
    kind: KeyKind
    functionality: str | None
    backend: str | None
    id: int | None
    slot: int | None
    priority: int | None
    raw: str
    parseable: bool
    keys: tuple[str, ...]
    rule_number: int | None
    rule: Rule | None
    fills_undefined: bool
    filled_by: tuple[Filler, ...]
    fallback: KeyFallback | None
    autograd_keys: tuple[str, ...]
    backend_of: tuple[str, ...]
    in_autogradother_backends: bool
    autograd_backends: tuple[str, ...]
    can_change: tuple[str, ...]
    recomputes: tuple[str, ...]
    leaves_behind: tuple[str, ...]
    full_after: tuple[str, ...]
    devices: tuple[str, ...]
    default: ThreadDefault


def key_report(universe: Universe, key: str) -> KeyReport:
    """Report on *key*, which `kind_of` knows."""
    layout, kind = layout_of(universe), kind_of(universe, key)
    assert kind is not None, f"{universe.name} has no key {key}"
    functionality, backend = _parts(universe, key, kind)
    precedence = next((step for step in PRECEDENCE if step.alias == key), None)
    registrable = kind in (KeyKind.RUNTIME, KeyKind.ALIAS)
    after = DispatchKeySet.full_after(universe, key) if functionality is not None else ()
    dense = key if kind is KeyKind.RUNTIME else backend
    bits = layout.key_bits[key] if kind is not KeyKind.BACKEND else 1 << universe.backends.index(backend or "")
    fallback = next((fallback for fallback in universe.fallbacks if fallback.key == key), None)
    return KeyReport(
        universe=universe.name,
        torch=universe.torch,
        key=key,
        kind=kind,
        functionality=functionality,
        backend=backend,
        id=universe.ids.get(key),
        slot=universe.slot.get(key),
        priority=None if functionality is None else universe.functionalities.index(functionality) + 1,
        raw=hexadecimal(bits),
        parseable=key in universe.parseable or kind is KeyKind.UNDEFINED,
        keys=_slots(universe, _own_keys(universe, key, kind, backend)),
        rule_number=precedence.number if precedence is not None else None,
        rule=precedence.rule if precedence is not None else None,
        fills_undefined=precedence is not None and precedence.fills_undefined,
        filled_by=_fillers(layout, key),
        fallback=None if fallback is None else KeyFallback(fallback.debug, fallback.fallthrough),
        autograd_keys=autograd_keys_of(universe, dense or ""),
        backend_of=tuple(name for name, backends in universe.autograd_backends.items() if key in backends),
        in_autogradother_backends=key in universe.autogradother_backends,
        autograd_backends=_slots(universe, universe.autograd_backends.get(key, ())),
        can_change=_slots(universe, layout.affected[key] if registrable else ()),
        recomputes=_slots(universe, universe.refreshed_by(key) if registrable else ()),
        leaves_behind=_slots(universe, layout.left_behind(key, fallback=False) if registrable else ()),
        full_after=_slots(universe, after),
        devices=tuple(device for device, name in universe.devices.items() if name == dense),
        default=thread_default(universe, key),
    )


def _slots(universe: Universe, keys: Iterable[str]) -> tuple[str, ...]:
    """Keys that have a slot, in the order of slots."""
    chosen = set(keys)
    return tuple(key for key in universe.slots if key in chosen)


def _parts(universe: Universe, key: str, kind: KeyKind) -> tuple[str | None, str | None]:
    if kind is KeyKind.BACKEND:
        return None, key.removesuffix(COMPONENT)
    if kind is KeyKind.FUNCTIONALITY:
        return key, None
    return universe.runtime_parts.get(key, (None, None))


def _own_keys(universe: Universe, key: str, kind: KeyKind, backend: str | None) -> tuple[str, ...]:
    if kind is KeyKind.BACKEND:
        return tuple(name for name, (_, component) in universe.runtime_parts.items() if component == backend)
    if kind is KeyKind.FUNCTIONALITY:
        return universe.per_backend.get(key, ())
    return universe.aliases.get(key, ())


def _fillers(layout: KeyLayout, key: str) -> tuple[Filler, ...]:
    slot = layout.universe.slot.get(key)
    if slot is None:
        return ()
    return tuple(
        Filler(
            candidate.key,
            candidate.number,
            candidate.rule,
            _names(layout, candidate.unless),
            _names(layout, candidate.ambiguous),
        )
        for candidate in layout.candidates[slot]
        if candidate.covers and candidate.key != key
    )


def _names(layout: KeyLayout, registered: int) -> tuple[str, ...]:
    """The keys of bits among registered keys: runtime keys and aliases, which are what one registers at."""
    universe = layout.universe
    bits = layout.registered_bit
    return tuple(key for key in (*universe.runtime, *universe.aliases) if registered & bits[key])


@dataclass(frozen=True, slots=True)
class KeySetReport:
    """highest: the key that a call with this set goes to. printed: as PyTorch prints the set."""

    REPORT: ClassVar[str] = "key-set"

    universe: str
    expression: str
    reading: str
    key_set: KeySet
    highest: str
    printed: str
    notes: tuple[ExpressionNote, ...]


def key_answer(universe: Universe, expression: str) -> KeyReport | KeySetReport:
    """The report of a key, or of the key set that an expression means. Errors: InputError."""
    name = universe.key_named(expression.strip())
    return key_report(universe, name) if kind_of(universe, name) else key_set_report(evaluate(universe, name))


def key_set_report(expression: KeyExpression) -> KeySetReport:
    """The report of an expression that was read."""
    keys = expression.keys
    return KeySetReport(
        universe=keys.layout.universe.name,
        expression=expression.text,
        reading=expression.reading,
        key_set=key_set_of(keys),
        highest=keys.highest_priority(),
        printed=str(keys),
        notes=expression.notes,
    )
