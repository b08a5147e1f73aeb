"""The autograd and autocast keys that tensors with a backend key carry as well."""

from __future__ import annotations

from functools import lru_cache

from dispatch_cli.model.universe import AUTOGRAD, Universe

_AUTOCAST = "Autocast"


def autograd_key_of(universe: Universe, key: str) -> str | None:
    """The autograd key that tensors with a backend key carry as well; None where *key* is no backend key.

    Of nested tensors, which carry two, it is AutogradNestedTensor.
    """
    autograd_keys = autograd_keys_of(universe, key)
    return autograd_keys[0] if autograd_keys else None


@lru_cache(maxsize=4096)
def autograd_keys_of(universe: Universe, key: str) -> tuple[str, ...]:
    """The autograd keys that tensors with a backend key carry as well, highest first; none for other keys.

    Most carry one, which PyTorch recomputes when a kernel comes at *key*: ``getAutogradKeyFromBackend`` says both.
    Sparse and quantized tensors carry the one of their device; backends without one of their own carry AutogradOther,
    and so do HIP and VE, although AutogradHIP and AutogradVE exist. Nested tensors carry that of their device as well.
    """
    autograd_keys = frozenset(universe.covered_by(AUTOGRAD))
    if key in autograd_keys or key not in universe.slot:
        return ()
    refreshed = [autograd_key for autograd_key in universe.refreshed_by(key) if autograd_key in autograd_keys]
    if refreshed:
        return (refreshed[0],)
    own = [autograd_key for autograd_key, backends in universe.autograd_backends.items() if key in backends]
    _, backend = universe.runtime_parts.get(key, (key, None))
    return (own[0], *(autograd_keys_of(universe, backend) if backend not in (None, key) else ())) if own else ()


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


@lru_cache(maxsize=16)
def backend_keys(universe: Universe) -> tuple[str, ...]:
    """The keys where calls with tensors end, in table order: a tensor brings one of them, and nothing is below it.

    The keys of each backend but for its autograd key, and the backends that share AutogradOther.
    """
    return tuple(key for key in universe.runtime if autograd_keys_of(universe, key))
