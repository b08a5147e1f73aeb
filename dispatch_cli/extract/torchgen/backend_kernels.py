"""The kernels of ``RegisterCPU.cpp`` and the like, and of ``RegisterBackendSelect.cpp``.

Source: ``torchgen/dest/register_dispatch_key.py`` and ``needs_backend_select`` in ``torchgen/gen.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.grouping import Forms, is_complete
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.operator_tables import BACKEND_SELECT_BY_HAND
from dispatch_cli.extract.torchgen.point import Point
from dispatch_cli.extract.torchgen.schema import SchemaKind


class GeneratedKernel(NamedTuple):
    """A kernel that torchgen registers. In ``derivatives.yaml`` where *derivative*, else in the function's file."""

    key: str
    function: NativeFunction
    kernel: str
    at: Point
    derivative: bool = False


def backend_kernels(forms: Forms) -> Iterator[GeneratedKernel]:
    """The kernels that the dispatch tables of a group give it."""
    if is_complete(forms) and forms[SchemaKind.OUT].structured:
        yield from _structured(forms)
        return
    for function in forms.values():
        yield from unstructured(function)


def _structured(forms: Forms) -> Iterator[GeneratedKernel]:
    """``gen_structured``: the kernel of the out form is what the kernels of all forms are made of."""
    out = forms[SchemaKind.OUT]
    structured = {key: kernel for key, kernel in out.dispatch.items() if key in keys.STRUCTURED}
    for kind, function in forms.items():
        form, root = kind.value, out.schema.name.base
        for key, kernel in structured.items():
            yield GeneratedKernel(key, function, f"structured_{kernel.name}_{form}", kernel.at)
        at = function.structured_at
        yield GeneratedKernel(keys.META, function, f"structured_{root}_meta_{form}", at)
        if kind is not SchemaKind.OUT:
            name = f"structured_{root}_default_backend_{form}"
            yield GeneratedKernel(keys.NON_FUNCTIONAL, function, name, at)
        for key, kernel in function.dispatch.items():
            if key not in structured and key not in (keys.META, keys.NON_FUNCTIONAL):
                yield GeneratedKernel(key, function, kernel.name, kernel.at)


def unstructured(function: NativeFunction) -> Iterator[GeneratedKernel]:
    """``gen_unstructured``: what ``dispatch`` says, and an in-place kernel at Meta that does nothing."""
    if function.manual_kernel:
        return
    for key, kernel in function.dispatch.items():
        yield GeneratedKernel(key, function, kernel.name, kernel.at)
    schema = function.schema
    if (
        keys.META not in function.dispatch
        and schema.kind is SchemaKind.INPLACE
        and not function.composite
        and len(schema.returns) == 1
    ):
        yield GeneratedKernel(keys.META, function, f"wrapper_Meta_{function.name.replace('.', '_')}", function.at)


def needs_backend_select(function: NativeFunction) -> bool:
    """True if it makes tensors out of ``TensorOptions``, so that ``BackendSelect`` decides for which backend."""
    name = function.schema.name.full_base
    if name.endswith("_like") or name.startswith("new_"):
        return False
    if name in BACKEND_SELECT_BY_HAND and "CUDA" in function.dispatch:
        return True
    return function.schema.options_index >= 0
