"""Names of dispatch keys, operators and tags in values, and of PyTorch's interface for operators."""

from __future__ import annotations

import ast

from dispatch_cli.extract.python.evaluation.values import (
    Dotted,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
    items_of,
    source_text,
)
from dispatch_cli.model.sources.extracted import Unknown

FUNCTIONS = (
    *("Library", "define", "impl", "impl_abstract", "register_fake", "register_kernel"),
    *("register_autograd", "register_vmap", "register_autocast", "register_torch_dispatch", "custom_op"),
    *("triton_op", "infer_schema", "fallthrough_kernel", "get_ctx", "_scoped_library", "opcheck"),
    *("wrap_triton", "capture_triton", "_impl", "_register_effectful_op", "register_opaque_type"),
    *("get_kernel",),
)
"""Names of ``torch.library``."""
_ELSEWHERE = {
    "torch._library.custom_ops.custom_op": "custom_op",
    "torch._library.custom_op": "custom_op",
    "torch._library.triton.triton_op": "triton_op",
    "torch._library.triton_op": "triton_op",
    "torch._library.infer_schema.infer_schema": "infer_schema",
    "torch._library.infer_schema": "infer_schema",
    "torch._custom_op.impl.infer_schema": "infer_schema",
    "torch._decomp.register_decomposition": "register_decomposition",
    "torch._higher_order_ops.effects._register_effectful_op": "_register_effectful_op",
    "torch.fx.has_side_effect": "has_side_effect",
    "torch.fx.node.has_side_effect": "has_side_effect",
    "torch._inductor.decomposition.register_decomposition": "register_decomposition",
}
TORCH_FUNCTIONS = {**{f"torch.library.{name}": name for name in FUNCTIONS}, **_ELSEWHERE}
"""Functions of PyTorch by full name, with what they do: a name of `TorchCalls`."""

DIRECT_REGISTER = "direct_register_custom_op"
"""vLLM's helper, whose effect is known where it is not among the sources."""

FIND_SCHEMA = "torch._C._dispatch_find_schema_or_throw"
"""The function that raises for an operator that is not defined."""
ROOTS = ("torch.ops", "torch.library", "torch._C", "torch.Tag", "torch.DispatchKey")
"""Modules whose names are PyTorch's own, also where PyTorch is among the sources."""

METHODS = frozenset(
    (
        *("_destroy", "_impl_with_aoti_compile", "_register_fake", "custom_op", "define", "fallback", "impl"),
        *("impl_abstract", "impl_backward", "impl_save_for_backward", "fallthrough", "py_autograd_impl"),
        *("py_functionalize_impl", "py_impl", "register_autocast"),
        *("register_autograd", "register_effect", "register_fake", "register_kernel"),
        *("register_torch_dispatch", "register_vmap", "triton_op"),
    )
)
"""Names of methods and functions that register something with the dispatcher, or undo that."""

HARMLESS = frozenset(
    (
        *("_register_effectful_op", "_register_torch_dispatch_rule", "capture_triton", "fallthrough_kernel"),
        *("get_ctx", "get_kernel", "infer_schema", "opcheck"),
        *("register_decomposition", "register_effect", "register_opaque_type", "register_torch_dispatch"),
        *("wrap_triton",),
    )
)
"""Names of what registers nothing with the dispatcher, although it looks so."""

CALLED = frozenset((*METHODS, *FUNCTIONS, DIRECT_REGISTER, "has_side_effect")) - HARMLESS
"""Names whose calls are looked at: they register something."""

COMMON = frozenset(("Library", "_impl", "define", "fallback", "fallthrough", "impl"))
"""Names of these functions that others have, too."""


_DEVICE_KEYS = {
    "cpu": "CPU", "cuda": "CUDA", "hip": "HIP", "xla": "XLA", "mps": "MPS", "ipu": "IPU", "xpu": "XPU", "hpu": "HPU",
    "ve": "VE", "lazy": "Lazy", "mtia": "MTIA", "maia": "MAIA", "meta": "Meta", "fpga": "FPGA", "vulkan": "Vulkan",
    "metal": "Metal", "privateuseone": "PrivateUse1", "mkldnn": "MkldnnCPU", "default": "CompositeExplicitAutograd",
}  # fmt: skip


def shown(value: Value, node: ast.AST) -> str:
    """An expression that is not decided, as the source has it."""
    if isinstance(value, Opaque):
        return value.text
    if isinstance(value, Dotted):
        return value.name
    return source_text(node)


def text_of(value: Value, node: ast.AST) -> str | Unknown:
    """A text, or what decides it."""
    return value if isinstance(value, str) else Unknown(shown(value, node))


def key_of(value: Value) -> str | Unknown | None:
    """A dispatch key; None where none is given."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, Dotted) and ".DispatchKey." in value.name:
        return value.name.rpartition(".")[2]
    if value is None:
        return None
    return Unknown(function_name(value))


def key_or_device(value: Value) -> str | Unknown | None:
    """A dispatch key, or the one of a device type (``torch.library._device_type_to_key``)."""
    key = key_of(value)
    if isinstance(key, str) and (key in _DEVICE_KEYS or key.islower()):
        return _DEVICE_KEYS.get(key.partition(":")[0], "PrivateUse1")
    return key


def devices_of(value: Value) -> tuple[str | Unknown, ...] | None:
    """Device types; None for all."""
    if value is None:
        return None
    if isinstance(value, str):
        return (value,)
    items = items_of(value)
    if items is None:
        return (Unknown(function_name(value)),)
    return tuple(item if isinstance(item, str) else Unknown(function_name(item)) for item in items)


def operator_of(value: Value, node: ast.AST) -> str | Unknown:
    """The full name of an operator: a text, an ``OpOverload`` or what ``custom_op`` returns."""
    match value:
        case str():
            return value
        case OperatorHandle(name):
            return name
        case Dotted(name) if name.startswith("torch.ops."):
            parts = name.split(".")[2:]
            if len(parts) in (2, 3):
                overload = "" if len(parts) == 2 or parts[2] == "default" else f".{parts[2]}"
                return f"{parts[0]}::{parts[1]}{overload}"
        case Prepared():
            return Unknown(function_name(value))
    return Unknown(shown(value, node))


def qualified(namespace: str | Unknown, name: str) -> str | Unknown:
    """A name with its namespace."""
    if "::" in name:
        return name
    return f"{namespace}::{name}" if isinstance(namespace, str) else Unknown(f"{namespace.expression}::{name}")


def operator_in(namespace: str | Unknown, value: Value, node: ast.AST) -> str | Unknown:
    """The full name of an operator in a library."""
    operator = operator_of(value, node)
    return qualified(namespace, operator) if isinstance(operator, str) else operator


def tags_of(value: Value) -> tuple[str, ...]:
    """The names of ``torch.Tag``."""
    if isinstance(value, Dotted):
        return (value.name.rpartition(".")[2],)
    return tuple(item.name.rpartition(".")[2] for item in items_of(value) or () if isinstance(item, Dotted))


def mutates_of(value: Value) -> tuple[str, ...] | str | None:
    """``mutates_args``."""
    if isinstance(value, str):
        return value
    items = items_of(value)
    return tuple(item for item in items if isinstance(item, str)) if items is not None else None


def is_fallthrough(value: Value) -> bool:
    """True if it is ``torch.library.fallthrough_kernel``."""
    return isinstance(value, Dotted) and value.name.rpartition(".")[2] == "fallthrough_kernel"
