"""The autocast keys that tensors of a backend carry."""

from __future__ import annotations

from dispatch_cli.model.universe import Universe

_AUTOCAST = "Autocast"


def autocast_key_of(universe: Universe, backend: str) -> str | None:
    """The autocast key of a backend, where the universe has one.

    Source: ``getAutocastRelatedKeySetFromBackend`` in ``c10/core/DispatchKeySet.h``.
    """
    key = f"{_AUTOCAST}{backend}"
    return key if key in universe.slot else None


def autocast_backend(universe: Universe, key: str) -> str | None:
    """The backend whose tensors carry an autocast key; None for other keys."""
    backend = key.removeprefix(_AUTOCAST)
    return backend if key != backend and backend in universe.backends and key in universe.slot else None
