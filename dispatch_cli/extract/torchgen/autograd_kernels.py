"""The kernels of ``VariableType.cpp``, ``ADInplaceOrViewType.cpp`` and ``TraceType.cpp``.

Source: ``packaged/autograd/gen_variable_type.py``, ``gen_inplace_or_view_type.py`` and ``gen_trace_type.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.extract.torchgen.backend_kernels import GeneratedKernel
from dispatch_cli.extract.torchgen.derivatives import DEFAULT, Derivatives
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.operator_tables import MANUAL_AUTOGRAD_AND_TRACER, RETURNS_VIEWS
from dispatch_cli.extract.torchgen.schema import SchemaKind

AUTOGRAD, INPLACE_OR_VIEW, TRACER = "Autograd", "ADInplaceOrView", "Tracer"


def autograd_kernels(function: NativeFunction, derivatives: Derivatives) -> Iterator[GeneratedKernel]:
    """The kernels of one function at the keys of autograd, at ADInplaceOrView and at Tracer."""
    schema = function.schema
    if schema.cpp_name in MANUAL_AUTOGRAD_AND_TRACER:
        return
    wrapper = _wrapper_name(function)
    yield GeneratedKernel(TRACER, function, f"TraceType::{wrapper}", function.at)
    derivative_keys = derivatives.of(function)
    if not function.abstract and (derivative_keys is None or not derivative_keys.differentiable):
        return  # the functions that it calls are differentiated
    if derivative_keys is None:
        yield GeneratedKernel(AUTOGRAD, function, f"VariableType::{wrapper}", function.at)
    else:
        for key, at in derivative_keys.places.items():
            name = AUTOGRAD if key == DEFAULT else key
            suffix = "" if key == DEFAULT else f"_{key}"
            yield GeneratedKernel(name, function, f"VariableType::{wrapper}{suffix}", at, derivative=True)
    writes = schema.kind in (SchemaKind.INPLACE, SchemaKind.OUT) and bool(schema.returns)
    if writes or schema.name.base in RETURNS_VIEWS:
        yield GeneratedKernel(INPLACE_OR_VIEW, function, f"ADInplaceOrView::{wrapper}", function.at)


def _wrapper_name(function: NativeFunction) -> str:
    """Name of the wrapper, as by ``type_wrapper_name``."""
    overload = function.schema.name.overload
    return f"{function.schema.cpp_name}_{overload}" if overload else function.schema.cpp_name
