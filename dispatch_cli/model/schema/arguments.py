"""Tests of a schema's arguments: for tensors, for lists of tensors, and for those that are written to."""

from __future__ import annotations

from dispatch_cli.model.schema.model import Argument, FunctionSchema
from dispatch_cli.model.schema.types import SchemaType, TypeKind


def is_tensor(kind: SchemaType) -> bool:
    """``Tensor`` or ``Tensor?``."""
    return kind.kind is TypeKind.TENSOR or (kind.kind is TypeKind.OPTIONAL and is_tensor(kind.contained[0]))


def is_tensor_list(kind: SchemaType) -> bool:
    """``Tensor[]``, ``Tensor?[]`` or ``Tensor[]?``."""
    if kind.kind is TypeKind.OPTIONAL:
        return is_tensor_list(kind.contained[0])
    return kind.kind is TypeKind.LIST and is_tensor(kind.contained[0])


def takes_tensors(argument: Argument) -> bool:
    """True for a tensor, or a list of tensors."""
    return is_tensor(argument.type) or is_tensor_list(argument.type)


def writes(argument: Argument | None) -> bool:
    """True if the argument is written to."""
    return argument is not None and argument.alias is not None and argument.alias.write


def is_mutable(schema: FunctionSchema | None) -> bool:
    """``is_mutable``: an argument is written to."""
    return schema is not None and any(map(writes, schema.arguments))


def has_tensors(schema: FunctionSchema | None) -> bool:
    """True if an argument takes a tensor, or several (``contains_tensor_types``, ``has_tensor_arg``).

    An operator whose schema is not known is taken for one with tensors, as nearly all are.
    """
    if schema is not None and schema.unknown is not None:
        return True
    return schema is not None and any(map(takes_tensors, schema.arguments))
