"""A universe: the layout of dispatch keys of one PyTorch version, as data.

Nothing here decides anything. The names and sets come from a live PyTorch; `dispatch_cli.universes` loads them and
`dispatch_cli.engine` applies the rules to them. Source of the terms: ``c10/core/DispatchKey.h``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

_AUTOCAST = "Autocast"
UNDEFINED = "Undefined"
"""Slot 0 of every dispatch table; in no key set."""
AD_INPLACE_OR_VIEW = "ADInplaceOrView"
AUTOGRAD = "Autograd"
"""The alias that covers every autograd key."""
AUTOGRAD_OTHER = "AutogradOther"
"""The autograd key of the backends that have none of their own; a composite kernel there can be ambiguous."""
BACKEND_SELECT = "BackendSelect"
BATCHED, BATCHED_NESTED = "FuncTorchBatched", "BatchedNestedTensor"
BATCHED_KEYS = (BATCHED, BATCHED_NESTED)
"""The keys of batched tensors, whose kernels are batching rules."""
EXPLICIT = "CompositeExplicitAutograd"
FRONT, BACK = "FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode"
"""The keys at which functorch's transforms get a call, and at which they go on."""
FUNCTIONALIZE = "Functionalize"
IMPLICIT = "CompositeImplicitAutograd"
CATCH_ALL = IMPLICIT
"""The alias key where a registration without a dispatch key goes."""
META = "Meta"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
PRE_DISPATCH = "PreDispatch"
"""The key of the modes before dispatch; what Python chooses for it depends on the modes that are active."""
PRIVATE_USE1 = "PrivateUse1"
"""The key of the one backend outside of PyTorch that can give itself a name."""
PYTHON = "Python"
"""The key of modes and tensor subclasses; no kernel can be registered for it in Python."""
PYTHON_DISPATCHER = "PythonDispatcher"
UNNAMED_BACKEND = "privateuseone"
"""The device type of PrivateUse1 until its backend has a name."""
_DEVICE_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz_")
_REFUSED_NAMES = frozenset(("cpu", "cuda", "hip", "mps", "mtia", "xpu"))
"""Names that PyTorch does not give to the backend at PrivateUse1 (``c10::register_privateuse1_backend``)."""


class CoreFallback(NamedTuple):
    """A backend fallback of PyTorch itself: its key, the dump's debug text, and whether it falls through."""

    key: str
    debug: str
    fallthrough: bool


class TorchLibrary(NamedTuple):
    """Behaviour of ``torch.library`` in a PyTorch version.

    custom_op: the debug text of what ``custom_op`` defines and registers. fake: that of its kernel at Meta.
    functions: of ``torch.library``'s functions, and the debug text of what they register for an operator that is not of
        ``custom_op``; empty where it names the place of the call.
    tags: those that every operator of ``custom_op`` has. takes_tags: whether it can be given more.
    backend_select: whether an operator without tensors gets a kernel at BackendSelect for its device types.
    view_fallback: whether operators that return views, or write, get PyTorch's fallback at ADInplaceOrView.
    views_differentiable: whether ``register_autograd`` takes an operator of ``custom_op`` that returns a view.
    checks_gradients: whether the autograd kernel makes an ``autograd.Function`` only where a gradient is needed.
    overrides: whether a second kernel at a key replaces the first one; otherwise it is refused.
    device_types: in the order of PyTorch's message. autocast_devices: those with autocast.
    """

    custom_op: str
    fake: str
    functions: Mapping[str, str]
    tags: tuple[str, ...]
    takes_tags: bool
    backend_select: bool
    view_fallback: bool
    views_differentiable: bool
    checks_gradients: bool
    overrides: bool
    device_types: tuple[str, ...]
    autocast_devices: tuple[str, ...]


class HigherOrderCalls(NamedTuple):
    """Behaviour of ``HigherOrderOperator.dispatch`` at the key Python.

    The errors are ``TYPE: TEXT``, with ``{operator}``, ``{mode}``, ``{subclass}`` (its class), ``{names}`` and
    ``{classes}`` (of the arguments) in their places.

    no_mode_rule: the innermost mode has no implementation. no_subclass_rule: a tensor subclass has none.
    unhandled: all implementations have returned NotImplemented. It is None where subclasses are not asked after a mode:
        the call returns NotImplemented.
    modes_handle: whether a mode with ``supports_higher_order_operators`` gets the call.
    fakes_by_mode: whether the implementation for FakeTensorMode gets fake tensors without a mode.
    """

    no_mode_rule: str
    no_subclass_rule: str
    unhandled: str | None
    modes_handle: bool
    fakes_by_mode: bool


class Universe:
    """The dispatch keys of one PyTorch version.

    name: such as ``torch-2.15``. torch, git: the build it was read from.
    functionalities: in priority order, lowest first.
    backends: backend components in order, lowest first, named by their Dense runtime key.
    per_backend: for each functionality that expands, its runtime key per backend, in the order of *backends*.
    runtime: runtime keys in the order of PyTorch's tables, without Undefined.
    aliases: what each alias key covers, in runtime order.
    autograd_backends: the backend keys behind each autograd key (``getBackendKeySetFromAutograd``); keys without any
        are left out.
    autogradother_backends: the backend keys that share AutogradOther.
    ids: the enum value of every key.
    parseable: the names that PyTorch's parser accepts.
    refreshes: which slots a registration at a key recomputes, where that is not just the key itself.
    full_after_always: the keys that every FULL_AFTER set has.
    after_autograd, after_ADInplaceOrView: the functionality whose FULL_AFTER set those two are.
    default_included, default_excluded: thread-local state of a fresh thread.
    devices: device type → runtime key.
    fallbacks: the core backend fallbacks, in runtime order.
    replaceable_fallbacks: the runtime keys at which a further backend fallback takes the place of the one that is
        there; at the others it is refused.
    higher_order_fallthrough: the keys that fall through by default in a higher-order operator.
    higher_order_calls: what a call of a higher-order operator does at the key Python.
    wrapped: the keys that functorch's wrappers take over from the tensor inside (``kKeysToPropagateToWrapper``).
    plain_devices: device types that have strided tensors only.
    mask_by_arguments: whether the backend of the arguments alone chooses the fallthrough mask, and not that of
        arguments and included keys.
    grad_ends_inference: whether functorch's grad and jvp leave inference mode for the function that they transform.
    python_needs_snapshot: whether the fallback at Python fails unless the one at PythonTLSSnapshot ran before.
    fake_overrides: whether ``torch.library.register_fake`` has a parameter ``allow_override``, true by default;
        otherwise it refuses to replace anything.
    fake_fallbacks: the namespaces of the operators whose own kernels ``FakeTensorMode`` runs where nothing else is
        there for fake tensors (``_can_run_unsafe_fallback_allowed_namespaces``).
    fake_without_device: whether ``FakeTensorMode`` calls a factory without an argument ``device`` as it is; otherwise
        it gives it a device, and the call fails.
    fake_numbered: the device types of which every fake tensor has a number: ``cuda`` is ``cuda:0``.
    fake_device_error: the error of ``FakeTensorMode`` for tensors of two devices, as ``TYPE: TEXT``, with
        ``{operator}``, ``{first}`` and ``{second}`` in their places; None where that is not known.
    torch_library: what ``torch.library`` registers.

    It takes its fields by name, and nobody changes them. It is no data class: that would take 0.8 ms of each run.
    """

    name: str
    torch: str
    git: str
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    per_backend: Mapping[str, tuple[str, ...]]
    runtime: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]]
    autograd_backends: Mapping[str, tuple[str, ...]]
    autogradother_backends: tuple[str, ...]
    ids: Mapping[str, int]
    parseable: frozenset[str]
    refreshes: Mapping[str, tuple[str, ...]]
    full_after_always: tuple[str, ...]
    after_autograd: str
    after_ADInplaceOrView: str
    default_included: tuple[str, ...]
    default_excluded: tuple[str, ...]
    devices: Mapping[str, str]
    fallbacks: tuple[CoreFallback, ...]
    replaceable_fallbacks: tuple[str, ...]
    higher_order_fallthrough: tuple[str, ...]
    higher_order_calls: HigherOrderCalls
    wrapped: tuple[str, ...]
    plain_devices: tuple[str, ...]
    mask_by_arguments: bool
    grad_ends_inference: bool
    python_needs_snapshot: bool
    fake_overrides: bool
    fake_fallbacks: tuple[str, ...]
    fake_without_device: bool
    fake_numbered: tuple[str, ...]
    fake_device_error: str | None
    torch_library: TorchLibrary

    def __init__(self, **fields: Any) -> None:
        assert fields.keys() == Universe.__annotations__.keys(), "all of the fields, and no others"
        vars(self).update(fields)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the table's slots in order; slot 0 is Undefined."""
        return (UNDEFINED, *self.runtime)

    @cached_property
    def slot(self) -> Mapping[str, int]:
        """Slot of each runtime key and of Undefined."""
        return {key: i for i, key in enumerate(self.slots)}

    @cached_property
    def keys_by_id(self) -> tuple[str, ...]:
        """Every key in the order of the enum, the order of a registration dump."""
        return tuple(sorted(self.ids, key=self.ids.__getitem__))

    @cached_property
    def release(self) -> tuple[int, int]:
        """Major and minor number of PyTorch."""
        major, minor, *_ = (*map(int, re.findall(r"\d+", self.torch)[:2]), 0, 0)
        return major, minor

    @cached_property
    def backend_name(self) -> str:
        """Name of the backend at PrivateUse1, such as ``npu``; ``privateuseone`` as long as it has no name."""
        return next((device for device, key in self.devices.items() if key == PRIVATE_USE1), UNNAMED_BACKEND)

    def device_type(self, text: str) -> str:
        """The device type of a text: PyTorch reads ``privateuseone`` after the backend got another name, too."""
        return self.backend_name if text == UNNAMED_BACKEND else text

    def with_backend(self, name: str) -> Universe:
        """This universe after ``torch.utils.rename_privateuse1_backend(name)``.

        Devices are printed by the new name, be it of another device before, such as ``vulkan``; keys are read by it
        (``AutogradNPU``) and printed as before. Errors: ValueError for a name that PyTorch refuses, or that no device
        string can have.
        """
        if not name or not set(name) <= _DEVICE_LETTERS:
            raise ValueError(f"{name[:60]!r} is not a backend name: use only lower-case letters and _, such as npu")
        if name in _REFUSED_NAMES:
            raise ValueError(f"Cannot register privateuse1 backend with in-tree device name: {name}")
        return _renamed(self, name)

    def key_written(self, text: str) -> str:
        """The key that ``AutogradNPU`` stands for where the backend at PrivateUse1 is called ``npu``; else *text*.

        Source: ``c10::parseDispatchKey``, from PyTorch 2.13 on at the latest; 2.4 does not read such names.
        """
        key = f"{text.removesuffix(self.backend_name.upper())}{PRIVATE_USE1}"
        is_named = self.backend_name != UNNAMED_BACKEND and text.endswith(self.backend_name.upper())
        return key if is_named and key in self.ids and text not in self.ids else text

    def key_in_error(self, key: str) -> str:
        """Name of a key in the error of a missing kernel: ``Sparsenpu`` where the backend is called ``npu``."""
        if self.backend_name == UNNAMED_BACKEND or not key.endswith(PRIVATE_USE1):
            return key
        return f"{key.removesuffix(PRIVATE_USE1)}{self.backend_name}"

    def has_key(self, key: str) -> bool:
        """True for a key that has a slot, an alias key, and a functionality that has a key per backend."""
        return key in self.slot or key in self.aliases or key in self.per_backend

    def key_named(self, text: str) -> str:
        """The key that a person means by *text*; *text* itself where no key is called so.

        The case of letters does not matter, and ``DispatchKey.`` or ``DispatchKey::`` may stand before the key.
        """
        bare = text.replace("::", ".").removeprefix("torch._C.").removeprefix("c10.").removeprefix("DispatchKey.")
        if bare in self.ids:
            return bare
        lower, own = bare.lower(), self.backend_name
        matches = [key for key in self.ids if lower in (key.lower(), key.replace(PRIVATE_USE1, own).lower())]
        return matches[0] if len(matches) == 1 else text

    @cached_property
    def keys_of_ids(self) -> Mapping[int, str]:
        """The key of each enum value."""
        return {number: key for key, number in self.ids.items()}

    @cached_property
    def runtime_parts(self) -> Mapping[str, tuple[str, str | None]]:
        """Functionality and backend component of each runtime key; the component is None where there is none."""
        parts: dict[str, tuple[str, str | None]] = {key: (key, None) for key in self.runtime}
        for functionality, keys in self.per_backend.items():
            for backend, key in zip(self.backends, keys, strict=True):
                parts[key] = (functionality, backend)
        return parts

    @cached_property
    def own_fallbacks(self) -> Mapping[str, str]:
        """The debug text of each of PyTorch's own backend fallbacks, by its key."""
        return {fallback.key: fallback.debug for fallback in self.fallbacks}

    def is_alias(self, key: str) -> bool:
        """True if *key* is an alias key: it has no slot of its own."""
        return key in self.aliases

    def covered_by(self, key: str) -> tuple[str, ...]:
        """The runtime keys that a registration at *key* can fill: itself, or what the alias covers."""
        return self.aliases.get(key, (key,) if key in self.slot else ())

    def refreshed_by(self, key: str) -> tuple[str, ...]:
        """The slots that PyTorch recomputes when a kernel comes or goes at *key*."""
        return self.refreshes.get(key, (key,) if key in self.slot else ())


@lru_cache(maxsize=16)
def _renamed(universe: Universe, backend: str) -> Universe:
    """One object for each name: what is derived from a universe is kept for the object."""
    named = {
        backend if key == PRIVATE_USE1 else device: key
        for device, key in universe.devices.items()
        if key == PRIVATE_USE1 or device != backend
    }
    fields = {field: getattr(universe, field) for field in Universe.__annotations__}
    return Universe(**{**fields, "devices": named})


@lru_cache(maxsize=4096)
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
