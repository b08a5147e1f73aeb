"""Facts of a schema that core fallbacks depend on."""

from __future__ import annotations

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import (
    Argument,
    FunctionSchema,
    has_tensors,
    is_mutable,
    is_tensor,
    is_tensor_list,
    takes_tensors,
    writes,
)
from dispatch_cli.model.schema.types import SchemaType, TypeKind

BUILTIN = ("aten", "prim", "prims")
"""The namespaces of PyTorch's own operators (``torch._library.utils.is_builtin``)."""
RETURNED = frozenset({"out", "inplace"})
"""Tags of operators that return what they are given to write to."""


def is_optional_list(kind: SchemaType) -> bool:
    """``Tensor?[]``."""
    return kind.kind is TypeKind.LIST and kind.contained[0].kind is TypeKind.OPTIONAL and is_tensor_list(kind)


def arguments_of(schema: FunctionSchema | None, count: int) -> tuple[Argument | None, ...]:
    """The argument that each of *count* tensors is passed for: one each in order, a list takes what is to spare."""
    if schema is None:
        return (None,) * count
    taking = list(filter(takes_tensors, schema.arguments))
    result: list[Argument | None] = []
    for position, argument in enumerate(taking):
        room = count - len(result)
        after = len(taking) - position - 1
        result += [argument] * (max(room - after, 0) if is_tensor_list(argument.real_type) else min(room, 1))
    return tuple(result[:count]) + (None,) * (count - len(result))


def tensors_left_out(schema: FunctionSchema | None, count: int) -> tuple[str, ...]:
    """The arguments that must be tensors, and for which a call with *count* tensors has none."""
    if schema is None:
        return ()
    given = [argument.name for argument in arguments_of(schema, count) if argument is not None]
    needed = (
        argument for argument in schema.arguments if argument.type.kind is TypeKind.TENSOR and argument.default is None
    )
    return tuple(argument.name for argument in needed if argument.name not in given)


def most_tensors(schema: FunctionSchema) -> int | None:
    """Maximum number of tensors of a call; None when there is a list among the arguments."""
    if any(is_tensor_list(argument.real_type) for argument in schema.arguments) or schema.is_vararg:
        return None
    return sum(is_tensor(argument.real_type) for argument in schema.arguments)


def has_aliases(schema: FunctionSchema | None) -> bool:
    """``hasAnyAliasInfo``."""
    return schema is not None and any(argument.alias is not None for argument in (*schema.arguments, *schema.returns))


def is_in_place(schema: FunctionSchema | None) -> bool:
    """``isInplaceOp``: it writes to its first argument, which it returns, and has no other aliases."""
    if schema is None or not is_mutable(schema) or len(schema.returns) != 1:
        return False
    first, *others = schema.arguments
    if not writes(first) or any(argument.alias is not None for argument in others):
        return False
    return writes(schema.returns[0])


def is_view(schema: FunctionSchema | None) -> bool:
    """True if arguments alias results and none is written to, as the math-bit fallbacks look at it."""
    if schema is None:
        return False
    with_alias = [argument for argument in schema.arguments if argument.alias is not None]
    return bool(with_alias) and not any(map(writes, with_alias))


def mixes_aliases(schema: FunctionSchema | None) -> bool:
    """True if some arguments with aliases are written to and some are not."""
    if schema is None:
        return False
    return len({writes(argument) for argument in schema.arguments if argument.alias is not None}) > 1


def returns_tensors_only(schema: FunctionSchema | None) -> bool:
    """``areAllReturnsTensors``."""
    return schema is None or all(result.type.kind is TypeKind.TENSOR for result in schema.returns)


def takes_tensor_list(schema: FunctionSchema | None) -> bool:
    """``areAnyArgumentsTensorList``."""
    return schema is not None and any(
        argument.type.kind is TypeKind.LIST and is_tensor_list(argument.type) for argument in schema.arguments
    )


def takes_device(schema: FunctionSchema) -> bool:
    """True if an argument ``device`` takes one (``_has_device_arg``)."""
    kinds = [argument.type for argument in schema.arguments if argument.name == "device"]
    kinds = [kind.contained[0] if kind.kind is TypeKind.OPTIONAL else kind for kind in kinds]
    return any(kind.kind is TypeKind.DEVICE for kind in kinds)


def makes_a_tensor(schema: FunctionSchema | None) -> bool:
    """``_is_tensor_constructor``: it takes no tensors and returns one."""
    if schema is None or has_tensors(schema):
        return False
    return len(schema.returns) == 1 and schema.returns[0].type.kind is TypeKind.TENSOR


def has_trivial_fake_impl(name: OperatorName, schema: FunctionSchema | None, tags: tuple[str, ...]) -> bool:
    """``can_generate_trivial_fake_impl``: what the operator returns is known, since it only writes."""
    if name.namespace in BUILTIN:
        return False
    return not RETURNED.isdisjoint(tags) or (schema is not None and is_mutable(schema) and not schema.returns)
