"""Calls that FakeTensorMode makes itself: its own functions, and the thread and the tensors of other calls."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.call.fake_devices import differ
from dispatch_cli.engine.call.schema_facts import arguments_of
from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker, Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.call import Layout
from dispatch_cli.model.options import Options
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import writes
from dispatch_cli.model.universe import PYTHON, Universe

NOT_FOR_SPARSE = frozenset(f"torch._subclasses.fake_impls.{name}" for name in ("meta_select", "_reshape_copy"))
"""Functions of the mode that return NotImplemented for sparse tensors."""
NOT_FOR_TWO_DEVICES = frozenset({"torch._subclasses.fake_impls.embedding"})
"""Functions of the mode that return NotImplemented for tensors of different devices."""


def gives_up(function: str, universe: Universe, values: Sequence[Value]) -> bool:
    """True if one of the mode's own functions returns NotImplemented for tensors."""
    if function in NOT_FOR_TWO_DEVICES:
        return differ(universe, values)
    sparse = any(value.spec is not None and value.spec.layout is Layout.SPARSE for value in values)
    return sparse and function in NOT_FOR_SPARSE


def without_python(maker: TensorMaker, thread: Thread) -> Thread:
    """The thread with Python, and all above it, excluded."""
    universe = maker.universe
    above = DispatchKeySet.full(universe) - DispatchKeySet.full_after(universe, PYTHON).add(PYTHON)
    functionalities = DispatchKeySet(above.layout, above.bits & above.layout.functionality_mask)
    return thread.exclude(functionalities | maker.known(*PYTHON_KEYS))


def zeros_for(maker: TensorMaker, value: Value, inference: bool) -> Value:
    """The zeros that stand for a fake tensor (``run_fallback_kernel``); any other tensor as it is."""
    if value.spec is None or value.spec.fake is None:
        return value
    spec = value.spec._replace(fake=None, requires_grad=False, bits=(), inference=False)
    return maker.make(spec, inference)


def without_results(schema: FunctionSchema | None, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The tensors of a call without those that are there to be written to by name, and without what is no tensor."""
    arguments = arguments_of(schema, len(values))
    return tuple(
        value
        for argument, value in zip(arguments, values, strict=True)
        if not value.is_absent and (argument is None or not (argument.kwarg_only and writes(argument)))
    )


def like_result(schema: FunctionSchema | None, values: tuple[Value, ...], options: Options) -> Options:
    """The options that a generated kernel passes to a factory: those of the tensor that it writes to."""
    arguments = arguments_of(schema, len(values))
    for argument, value in zip(arguments, values, strict=True):
        if argument is not None and argument.kwarg_only and writes(argument) and value.spec is not None:
            return options._replace(device=value.spec.device, layout=value.spec.layout.value)
    return options
