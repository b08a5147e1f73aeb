"""``native_functions.yaml`` with its ``derivatives.yaml``: the definitions and kernels that torchgen makes of them.

Source: ``torchgen/dest/register_dispatch_key.py``, and ``needs_backend_select`` in ``torchgen/gen.py``;
``packaged/autograd/gen_variable_type.py``, ``gen_inplace_or_view_type.py`` and ``gen_trace_type.py`` for the
kernels of autograd, ``torchgen/gen_functionalization_type.py`` for those at Functionalize.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from dispatch_cli.declarations.tree import Mapping
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.derivatives import DEFAULT, Derivatives
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.grouping import Forms, ViewGroup, add_generated, group, is_complete, view_groups
from dispatch_cli.extract.torchgen.native_function import NativeFunction, read_function
from dispatch_cli.extract.torchgen.schema import ATEN, SchemaKind
from dispatch_cli.model.schema.model import is_mutable
from dispatch_cli.model.span import Span

# Operators that torchgen's generators treat by name. Where versions of PyTorch differ, the names of all of them are
# here: a name that a version does not treat specially is not one of its operators.

BACKEND_SELECT_BY_HAND = frozenset({"is_pinned", "_pin_memory"})
"""Operators that have a kernel at BackendSelect in the template ``RegisterBackendSelect.cpp``.

Only in versions in which they have a kernel for CUDA, too.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MANUAL_AUTOGRAD_AND_TRACER = _words(
    """
    options data set_data is_leaf output_nr _version retain_grad _backward requires_grad_ resize_ resize_as_
    detach detach_ copy_ _fw_primal _make_dual
    """
)
"""C++ functions whose kernels at Autograd and Tracer are written by hand (``packaged/autograd/gen_trace_type.py``)."""

RETURNS_VIEWS = _words(
    """
    numpy_T alias as_strided diagonal expand permute select slice slice_inverse split split_with_sizes squeeze t
    transpose unfold unsqueeze flatten view unbind _indices _values indices values crow_indices col_indices
    ccol_indices row_indices sparse_coo_tensor_with_dims_and_tensors _reshape_alias
    _test_autograd_multiple_dispatch_view view_as_complex view_as_real _conj _neg_view _nested_get_values
    _nested_view_from_buffer _nested_view_from_jagged chunk detach contiguous reshape reshape_as expand_as
    view_as real imag narrow movedim tensor_split swapdims swapaxes mT mH adjoint matrix_H
    """
)
"""Names, without ``_`` and overload, of operators that are views for autograd (``gen_inplace_or_view_type.py``)."""

NOT_FUNCTIONALIZED = _words(
    """
    adaptive_avg_pool3d_backward.grad_input _slow_conv2d_backward.grad_input _cummax_helper _cummin_helper
    polygamma_ record_stream resize_ resize_as_ _fill_mem_eff_dropout_mask_
    _flash_attention_forward_no_dropout_inplace _cudnn_attention_forward_no_dropout_inplace
    """
)
"""Operators without a kernel at Functionalize, although they write (``gen_functionalization_type.py``)."""


class GeneratedKernel(NamedTuple):
    """A kernel that torchgen registers."""

    key: str
    function: NativeFunction
    kernel: str
    at: Span


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
    has_wrapper = schema.kind is SchemaKind.INPLACE and len(schema.returns) == 1 and not function.composite
    if has_wrapper and keys.META not in function.dispatch:
        yield GeneratedKernel(keys.META, function, f"wrapper_Meta_{function.name.replace('.', '_')}", function.at)


def needs_backend_select(function: NativeFunction) -> bool:
    """True if it makes tensors out of ``TensorOptions``, so that ``BackendSelect`` decides for which backend."""
    name = function.schema.full_base
    if name.endswith("_like") or name.startswith("new_"):
        return False
    if name in BACKEND_SELECT_BY_HAND and "CUDA" in function.dispatch:
        return True
    return function.schema.options_index >= 0


def autograd_kernels(function: NativeFunction, derivatives: Derivatives) -> Iterator[GeneratedKernel]:
    """The kernels of one function at the keys of autograd, at ADInplaceOrView and at Tracer."""
    schema = function.schema
    if schema.cpp_name in MANUAL_AUTOGRAD_AND_TRACER:
        return
    wrapper = f"{schema.cpp_name}_{schema.overload}" if schema.overload else schema.cpp_name  # ``type_wrapper_name``
    yield GeneratedKernel("Tracer", function, f"TraceType::{wrapper}", function.at)
    derivative_keys = derivatives.of(function)
    if not function.abstract and (derivative_keys is None or not derivative_keys.differentiable):
        return  # the functions that it calls are differentiated
    if derivative_keys is None:
        yield GeneratedKernel("Autograd", function, f"VariableType::{wrapper}", function.at)
    else:
        for key, at in derivative_keys.places.items():
            name = "Autograd" if key == DEFAULT else key
            suffix = "" if key == DEFAULT else f"_{key}"
            yield GeneratedKernel(name, function, f"VariableType::{wrapper}{suffix}", at)
    writes = schema.kind in (SchemaKind.INPLACE, SchemaKind.OUT) and bool(schema.returns)
    if writes or schema.name.base in RETURNS_VIEWS:
        yield GeneratedKernel("ADInplaceOrView", function, f"ADInplaceOrView::{wrapper}", function.at)


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
        yield from (_kernel(function) for function in explicit if is_mutable(function.schema.schema))


def _kernel(function: NativeFunction) -> GeneratedKernel:
    if function.implicit:
        name = function.dispatch[keys.IMPLICIT].name
    else:
        name = f"functionalization::{function.name.replace('.', '_')}"
    return GeneratedKernel("Functionalize", function, name, function.at)


def minor_version(operators: Container[str]) -> int:
    """The minor version of the PyTorch 2 that has these operators, as far as torchgen's work depends on it.

    Since 2.6, it adds out forms of composite operators with the tag ``core``. Since 2.10, composite views have their
    composite kernel at Functionalize. Since 2.13, out and in-place forms have the tags ``out`` and ``inplace``.
    """
    if "align_as" not in operators:  # it goes with named tensors, which are gone in 2.13
        return 13
    return 10 if "_scaled_mm_v2" in operators else 6 if "_foreach_rsqrt" in operators else 5


class NativeFunctions(NamedTuple):
    """Content of a ``native_functions.yaml``.

    functions: those of the file, and those that torchgen adds to them. minor: as by `minor_version`.
    """

    functions: list[NativeFunction]
    groups: list[Forms]
    views: list[ViewGroup]
    minor: int


def read_native_functions(entries: Sequence[Fields]) -> NativeFunctions:
    """Read the entries of a file; the parts that cannot be read are left out and named as problems."""
    functions = [function for entry in entries if (function := read_function(entry)) is not None]
    groups = group(functions)
    minor = minor_version({function.name for function in functions})
    functions += add_generated(groups, of_core=minor >= 6)
    return NativeFunctions(functions, groups, view_groups(functions), minor)


def keys_in(entries: Iterable[Fields]) -> frozenset[str]:
    """The dispatch keys that the entries name."""
    tables = [table for entry in entries if isinstance(table := entry.values.get("dispatch"), Mapping)]
    return frozenset(name.strip() for table in tables for key, _ in table.pairs for name in key.text.split(","))


def kernels(read: NativeFunctions, derivatives: Derivatives | None) -> Iterator[GeneratedKernel]:
    """The kernels that torchgen registers for the functions of a file.

    derivatives: None where there is no ``derivatives.yaml``: then there are none for autograd, tracing and
    functionalization, which are generated together with those of PyTorch itself.
    """
    yield from chain.from_iterable(map(backend_kernels, read.groups))
    of_pytorch = [function for function in read.functions if function.namespace == ATEN]
    for function in of_pytorch:
        if needs_backend_select(function):
            yield GeneratedKernel("BackendSelect", function, function.schema.cpp_name, function.at)
    if derivatives is None:
        return
    for function in of_pytorch:
        yield from autograd_kernels(function, derivatives)
    yield from functionalization_kernels(read.groups, read.views, read.minor >= 10)
