"""One dispatch key in depth: where it stands, who fills it, what a registration there does."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.autograd import autograd_keys_of
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.layout import KeyLayout, layout_of
from dispatch_cli.engine.keys.named_sets import COMPONENT
from dispatch_cli.engine.keys.universe_differences import KeyKind, kind_of
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.universe import CoreFallback, Universe
from dispatch_cli.report.key_groups import KeyGroups, group_keys
from dispatch_cli.report.keys import ThreadDefault, thread_default


class Filler(NamedTuple):
    """An alias key that fills the slot: the rule by which it does, and at which keys a kernel stops it.

    yields_to: a kernel at one of these takes the slot away; ambiguous_with: one at these makes it ambiguous.
    """

    alias: str
    number: int
    rule: Rule
    yields_to: tuple[str, ...]
    ambiguous_with: tuple[str, ...]


class KeyReport(NamedTuple):
    """What there is to say about a key; fields that do not apply to its kind are None or empty.

    functionality, backend: of a runtime key, and what a building block itself is. priority: of the functionality, of
        *priorities*, 1 the lowest. bits: in a key set.
    keys: what an alias covers; the runtime keys of a functionality or of a backend.
    rule, number: by which an alias fills slots.
    autograd: the autograd keys that a tensor of this backend has. behind: the autograd keys that have it as a backend.
    autograd_backends: the backend keys behind an autograd key.
    can_change: the slots that a kernel there can change; refreshes: those that PyTorch recomputes then; left_behind:
        those that it can change and PyTorch does not recompute.
    """

    universe: str
    torch: str
    key: str
    kind: KeyKind
    functionality: str | None
    backend: str | None
    id: int | None
    slot: int | None
    slots: int
    priority: int | None
    priorities: int
    bits: int
    parseable: bool
    fillers: tuple[Filler, ...]
    keys: KeyGroups
    number: int | None
    rule: Rule | None
    fills_undefined: bool
    autograd: tuple[str, ...]
    behind: tuple[str, ...]
    shares_autogradother: bool
    is_autograd: bool
    autograd_backends: KeyGroups
    fallback: CoreFallback | None
    can_change: KeyGroups
    refreshes: KeyGroups
    left_behind: KeyGroups
    full_after: KeyGroups
    devices: tuple[str, ...]
    default: ThreadDefault


def is_key(universe: Universe, name: str) -> bool:
    """Whether *name* is a key, a functionality or, as ``CPUBit``, a backend component."""
    return kind_of(universe, name) is not None or name.removesuffix(COMPONENT) in _components(universe, name)


def _components(universe: Universe, name: str) -> tuple[str, ...]:
    return universe.backends if name.endswith(COMPONENT) else ()


def key_report(universe: Universe, key: str) -> KeyReport:
    """All about *key*, which `is_key` knows."""
    layout = layout_of(universe)
    kind = kind_of(universe, key) or KeyKind.BACKEND
    functionality, backend = _parts(universe, key, kind)
    priority = None if functionality is None else universe.functionalities.index(functionality) + 1
    precedence = next((one for one in PRECEDENCE if one.alias == key), None)
    registrable = kind in (KeyKind.RUNTIME, KeyKind.ALIAS)
    after = DispatchKeySet.full_after(universe, key) if functionality is not None else ()
    dense = key if kind is KeyKind.RUNTIME else backend
    return KeyReport(
        universe=universe.name,
        torch=universe.torch,
        key=key,
        kind=kind,
        functionality=functionality,
        backend=backend,
        id=universe.ids.get(key),
        slot=universe.slot.get(key),
        slots=len(universe.slots),
        priority=priority,
        priorities=len(universe.functionalities),
        bits=layout.key_bits[key] if kind is not KeyKind.BACKEND else 1 << universe.backends.index(backend or ""),
        parseable=key in universe.parseable or kind is KeyKind.UNDEFINED,
        fillers=_fillers(layout, key),
        keys=group_keys(universe, _own_keys(universe, key, kind, backend)),
        number=precedence.number if precedence is not None else None,
        rule=precedence.rule if precedence is not None else None,
        fills_undefined=precedence is not None and precedence.fills_undefined,
        autograd=autograd_keys_of(universe, dense or ""),
        behind=tuple(name for name, backends in universe.autograd_backends.items() if key in backends),
        shares_autogradother=key in universe.autogradother_backends,
        is_autograd=_is_autograd(universe, key),
        autograd_backends=group_keys(universe, universe.autograd_backends.get(key, ())),
        fallback=next((one for one in universe.fallbacks if one.key == key), None),
        can_change=group_keys(universe, layout.affected[key] if registrable else ()),
        refreshes=group_keys(universe, universe.refreshed_by(key) if registrable else ()),
        left_behind=group_keys(universe, layout.left_behind(key, fallback=False) if registrable else ()),
        full_after=group_keys(universe, after),
        devices=tuple(device for device, name in universe.devices.items() if name == dense),
        default=thread_default(universe, key),
    )


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


def _is_autograd(universe: Universe, key: str) -> bool:
    return key in universe.aliases.get("Autograd", ())


def _fillers(layout: KeyLayout, key: str) -> tuple[Filler, ...]:
    slot = layout.universe.slot.get(key)
    if slot is None:
        return ()
    return tuple(
        Filler(one.key, one.number, one.rule, _names(layout, one.unless), _names(layout, one.ambiguous))
        for one in layout.candidates[slot]
        if one.covers and one.key != key
    )


def _names(layout: KeyLayout, registered: int) -> tuple[str, ...]:
    """The keys of bits among registered keys: runtime keys and aliases, which are what one registers at."""
    universe = layout.universe
    bits = layout.registered_bit
    return tuple(key for key in (*universe.runtime, *universe.aliases) if registered & bits[key])
