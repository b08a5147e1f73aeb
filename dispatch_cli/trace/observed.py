"""A recorded signature in the engine's own types: tensors, thread and options, as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import INFRA_MODES, Layer, LocalKeys, Mode, Thread
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.model.call import Absent, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.options import DTYPES, LAYOUT_NUMBERS, Options
from dispatch_cli.model.universe import PRE_DISPATCH
from dispatch_cli.trace.signature import GENERATOR

_BASE = "torch"
"""PyTorch's name for the layer of functorch's stack that is no transform."""
_MODE = "Mode"
"""Name of any mode for the engine: it gets the call, whatever it does with it."""


class Observed(NamedTuple):
    """Inputs of a call. options: also that it is a boxed call, where there is a generator."""

    values: tuple[Value, ...]
    thread: Thread
    options: Options


class NotObserved(ValueError):
    """A signature has keys that the universe lacks; the message says which."""


def observed(signature: Mapping[str, Any], layout: KeyLayout) -> Observed:
    """Inputs of the engine for a signature. Errors: NotObserved."""
    tensors = signature["tensors"]
    thread = thread_of(signature, layout)
    values = tuple(value_of(tensor, layout, thread) for tensor in tensors if tensor[1:] != [GENERATOR])
    return Observed(values, thread, options_of(signature, layout))


def keys_of(raw: int, layout: KeyLayout) -> DispatchKeySet:
    """A raw key set. Errors: NotObserved for bits that mean nothing in the universe."""
    if raw & ~(layout.functionality_mask | layout.backend_mask):
        raise NotObserved(f"the key set {raw:#x} has bits that the universe {layout.universe.name} does not have")
    return DispatchKeySet(layout, raw)


def value_of(data: list[Any], layout: KeyLayout, thread: Thread) -> Value:
    """A tensor, with what it wraps. Errors: NotObserved.

    What a ``jvp`` has wrapped may have a tangent; whether it has is not recorded.
    """
    keyset = keys_of(data[0], layout)
    if data[1:] in ([Absent.NONE.value], [Absent.UNDEFINED.value]):
        return Value(keyset, data[1], TensorSpec(absent=Absent(data[1])))
    if len(data) == 1:
        return Value(keyset, str(keyset), None)
    _, kind, level, inner = data
    is_of_jvp = level is not None and any(row.level == level and row.kind is ContextKind.JVP for row in thread.layers)
    return Value(
        keyset,
        str(keyset),
        None,
        Wrapper(WrapperKind(kind), level),
        value_of(inner, layout, thread),
        has_tangent=is_of_jvp,
    )


def options_of(signature: Mapping[str, Any], layout: KeyLayout) -> Options:
    """The options that count for dispatch. Errors: NotObserved."""
    number, dtype = signature.get("layout"), signature.get("dtype")
    generator = next((tensor for tensor in signature["tensors"] if tensor[1:] == [GENERATOR]), None)
    return Options(
        signature.get("device"),
        None if number is None or number >= len(LAYOUT_NUMBERS) else LAYOUT_NUMBERS[number].value,
        None if dtype is None or dtype >= len(DTYPES) else DTYPES[dtype],
        None if generator is None else _device_of(keys_of(generator[0], layout)),
    )


def _device_of(keyset: DispatchKeySet) -> str:
    """The device of the backend of a key set; that of the first one, where it has none."""
    universe = keyset.layout.universe
    return next((name for name, key in universe.devices.items() if key in keyset), next(iter(universe.devices)))


def thread_of(signature: Mapping[str, Any], layout: KeyLayout) -> Thread:
    """The state of the thread. Errors: NotObserved."""
    inference = signature.get("inference", False)
    layers = tuple(
        Layer(ContextKind(kind), level, inference, saved=None if saved is None else _local_keys(saved, layout))
        for kind, level, saved in signature.get("layers", ())
        if kind != _BASE
    )
    modes = tuple(Mode(_MODE, None, at) for at in range(len(signature.get("modes", ()))))
    keys = _local_keys(signature["keys"], layout)
    # PyTorch includes PreDispatch with the first mode on its stack, and removes it with the last one.
    pre_dispatch = (Mode(_MODE, None, 0),) if keys.included.has(PRE_DISPATCH) else ()
    return Thread(
        keys,
        inference,
        modes,
        layers,
        signature.get("python_dispatcher", False),
        snapshot=True,  # not seen; where PyTorch insists on it, it has been made
        pre_dispatch_modes=pre_dispatch,
        gradients=signature.get("grad_mode", True),
    )


def mode_names(signature: Mapping[str, Any]) -> list[str]:
    """The classes of the active modes, the one that gets a call first at the end."""
    modes = signature.get("modes", ())
    own = [name for name in modes if name not in INFRA_MODES]
    return [*sorted((name for name in modes if name in INFRA_MODES), key=INFRA_MODES.index), *own]


def _local_keys(data: list[int], layout: KeyLayout) -> LocalKeys:
    return LocalKeys(keys_of(data[0], layout), keys_of(data[1], layout))
