"""What an argument of a schema is: a tensor, a list of tensors, one that is written to."""

from __future__ import annotations

from dispatch_cli.model.schema.model import Argument
from dispatch_cli.model.schema.types import SchemaType, TypeKind


def is_tensor(kind: SchemaType) -> bool:
    """``Tensor`` or ``Tensor?``."""
    return kind.kind is TypeKind.TENSOR or (kind.kind is TypeKind.OPTIONAL and is_tensor(kind.contained[0]))


def is_tensor_list(kind: SchemaType) -> bool:
    """``Tensor[]``, ``Tensor?[]`` or ``Tensor[]?``."""
    if kind.kind is TypeKind.OPTIONAL:
        return is_tensor_list(kind.contained[0])
    return kind.kind is TypeKind.LIST and is_tensor(kind.contained[0])


def writes(argument: Argument | None) -> bool:
    """Whether the argument is written to."""
    return argument is not None and argument.alias is not None and argument.alias.write
