"""The kernels of ``RegisterFunctionalization.cpp``.

Source: ``gen_functionalization_registration`` in ``torchgen/gen_functionalization_type.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.backend_kernels import GeneratedKernel
from dispatch_cli.extract.torchgen.grouping import Forms, ViewGroup, is_complete
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.operator_tables import NOT_FUNCTIONALIZED
from dispatch_cli.extract.torchgen.schema import SchemaKind

FUNCTIONALIZE = "Functionalize"


def functionalization_kernels(
    groups: Iterable[Forms], views: Sequence[ViewGroup], decomposes_views: bool
) -> Iterator[GeneratedKernel]:
    """The kernels at Functionalize.

    decomposes_views: views that are composite have their composite kernel there, too.
    """
    grouped = {id(function) for view in views for function in view if function is not None}
    for view in views:
        if view.view.name == "lift_fresh":
            continue
        for function in (view.view, view.inplace):
            if function is not None and (decomposes_views or not function.implicit):
                yield _kernel(function)
    for forms in groups:
        if is_complete(forms):
            inplace = forms.get(SchemaKind.INPLACE)
            if inplace is None or inplace.name != "set_.source_Tensor":
                yield from _writing(list(forms.values()))
        else:
            for function in forms.values():
                if id(function) not in grouped and function.name not in NOT_FUNCTIONALIZED:
                    yield from _writing([function])


def _writing(functions: Sequence[NativeFunction]) -> Iterator[GeneratedKernel]:
    explicit = [function for function in functions if not function.implicit]
    if not any(function.name in ("lift", "resize_") for function in explicit):
        yield from (_kernel(function) for function in explicit if function.modifies)


def _kernel(function: NativeFunction) -> GeneratedKernel:
    if function.implicit:
        name = function.dispatch[keys.IMPLICIT].name
    else:
        name = f"functionalization::{function.name.replace('.', '_')}"
    return GeneratedKernel(FUNCTIONALIZE, function, name, function.at)
