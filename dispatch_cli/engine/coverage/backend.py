"""The backend that coverage is asked for."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.autocast import autocast_key_of
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.model.universe import Universe


class CoveredBackend(NamedTuple):
    """A backend: its dispatch key, its device where it has a plain one, and the keys that its tensors carry as well.

    autograd, autocast: None where the universe has none.
    """

    key: str
    device: str | None
    autograd: str | None
    autocast: str | None


def backend_named(universe: Universe, text: str) -> CoveredBackend | None:
    """The backend that a dispatch key or a device type means, in any case; None where it means none."""
    key = universe.devices.get(text.lower()) or universe.key_named(text)
    return backend_of(universe, key) if is_backend(universe, key) else None


def backend_of(universe: Universe, key: str) -> CoveredBackend:
    """The backend of a key at which calls with tensors end."""
    device = next((name for name, device_key in universe.devices.items() if device_key == key), None)
    _, component = universe.runtime_parts[key]
    autocast = None if component is None else autocast_key_of(universe, component)
    return CoveredBackend(key, device, autograd_key_of(universe, key), autocast)


def backend_keys(universe: Universe) -> list[str]:
    """The keys that can be asked for: those that tensors bring and that have an autograd key above them."""
    return [key for key in universe.runtime if is_backend(universe, key)]


def is_backend(universe: Universe, key: str) -> bool:
    """True if calls with tensors end at *key*."""
    return autograd_key_of(universe, key) is not None
