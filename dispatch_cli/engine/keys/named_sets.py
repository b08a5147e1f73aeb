"""The key sets and functions of keys that have a name in PyTorch, and the names of a key set's bits."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.engine.keys.autograd import autograd_keys_of
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.universe import Universe

COMPONENT = "Bit"
"""A backend component is named by its Dense key and this, as C++ does: ``CPUBit``."""


def functionalities_of(keys: DispatchKeySet) -> tuple[str, ...]:
    """The functionality bits of a set by name, lowest first."""
    universe = keys.layout.universe
    return tuple(name for name in universe.functionalities if keys.bits & keys.layout.key_bits[name])


def components_of(keys: DispatchKeySet) -> tuple[str, ...]:
    """The backend bits of a set by name, lowest first."""
    backends = keys.layout.universe.backends
    return tuple(f"{backend}{COMPONENT}" for i, backend in enumerate(backends) if keys.bits >> i & 1)


NAMED_SETS: dict[str, tuple[str, Callable[[Universe], DispatchKeySet]]] = {
    "FULL": ("every key", DispatchKeySet.full),
    "after_autograd": (
        "the keys with which autograd kernels redispatch",
        lambda universe: DispatchKeySet.full_after(universe, universe.after_autograd),
    ),
    "after_ADInplaceOrView": (
        "the keys with which ADInplaceOrView kernels redispatch",
        lambda universe: DispatchKeySet.full_after(universe, universe.after_ADInplaceOrView),
    ),
    "autogradother_backends": (
        "the backend keys that share AutogradOther",
        lambda universe: DispatchKeySet.of(universe, universe.autogradother_backends),
    ),
    "default_included": (
        "the keys that a fresh thread includes in every call",
        lambda universe: DispatchKeySet.of(universe, universe.default_included),
    ),
    "default_excluded": (
        "the keys that a fresh thread excludes from every call",
        lambda universe: DispatchKeySet.of(universe, universe.default_excluded),
    ),
}
"""Name → what it is, and the set."""
FUNCTIONS: dict[str, tuple[str, Callable[[Universe, str], DispatchKeySet]]] = {
    "FULL_AFTER": ("every key below that key's functionality", DispatchKeySet.full_after),
    "runtime": (
        "the runtime keys that an alias key covers",
        lambda universe, key: DispatchKeySet.of(universe, universe.covered_by(key)),
    ),
    "backends": (
        "the backend keys of an autograd key",
        lambda universe, key: DispatchKeySet.of(universe, universe.autograd_backends.get(key, ())),
    ),
    "autograd": (
        "the autograd keys that tensors of a backend key carry",
        lambda universe, key: DispatchKeySet.of(universe, autograd_keys_of(universe, key)),
    ),
}
"""Name → what it is, and the function of one key."""
