"""Names of operators, dispatch keys, devices and tags out of values."""

from __future__ import annotations

import ast

from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.values import (
    Dotted,
    Opaque,
    OperatorHandle,
    Prepared,
    Value,
    function_name,
    source_text,
)
from dispatch_cli.model.extracted import Unknown

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
