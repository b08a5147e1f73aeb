"""Refusals of custom operators by ``torch.library``, in its words, and its demands on their schemas.

Sources: ``CustomOpDef`` in torch/_library/custom_ops.py, ``register_autograd`` and its like in torch/library.py, and
torch/_library/utils.py.
"""

from __future__ import annotations

from dataclasses import replace

from dispatch_cli.model.schema.model import (
    AliasInfo,
    Argument,
    FunctionSchema,
    has_tensors,
    is_mutable,
    is_tensor_list,
    takes_tensors,
    writes,
)
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.universe import TorchLibrary

OUT = "out"
"""The tag of operators that write to arguments given for their results."""


def is_view(schema: FunctionSchema) -> bool:
    """``schema._is_view_op()``: an argument has an alias and is not written to."""
    return any(argument.alias is not None and not argument.alias.write for argument in schema.arguments)


def is_functional(schema: FunctionSchema, allow_view: bool) -> bool:
    """``is_functional_schema``. allow_view: a view of one tensor counts as functional."""
    if is_mutable(schema):
        return False
    if any(result.alias is not None and not result.alias.write for result in schema.returns):
        plain = [sum(item.type.kind is TypeKind.TENSOR for item in side) for side in (schema.arguments, schema.returns)]
        return allow_view and plain == [1, 1]
    return bool(schema.returns)


def keyword_tensors(schema: FunctionSchema) -> bool:
    """``has_kwarg_only_tensors``."""
    return any(argument.kwarg_only and takes_tensors(argument) for argument in schema.arguments)


def written(schema: FunctionSchema, mutates: tuple[str, ...] | None) -> tuple[FunctionSchema, str | None]:
    """The schema with the aliases of what is written to, and why PyTorch refuses the names.

    mutates: ``mutates_args``, for a schema that does not say what it writes to; None where that is not given.
    """
    if schema.unknown is not None:
        return schema, None
    written_names = [argument.name for argument in schema.arguments if writes(argument)]
    if mutates is None or set(written_names) == set(mutates):
        return schema, None
    if written_names:
        names, text = "{" + ", ".join(map(repr, written_names)) + "}", str(schema).removeprefix(str(schema.name))
        return schema, (
            f"Attempted to create a custom op with `mutates_args={list(mutates)}` and `schema={text}. "
            f"The schema suggests that the op mutates {names}which is different from what was provided to us in "
            "`mutates_args`. Please make these consistent."
        )
    known = {argument.name: argument for argument in schema.arguments}
    missing = [name for name in mutates if name not in known]
    if missing:
        return schema, (
            f"{{{', '.join(map(repr, missing))}}} in mutates_args were not found in the custom op's signature. "
            "mutates_args should contain the names of all args that the custom op mutates"
        )
    for name in mutates:
        if not takes_tensors(known[name]):
            return schema, (
                f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated"
            )
    arguments = tuple(
        _written(item, index) if item.name in mutates else item for index, item in enumerate(schema.arguments)
    )
    return replace(schema, arguments=arguments), None


def _written(argument: Argument, index: int) -> Argument:
    alias = AliasInfo((f"a{index}",), (f"a{index}",), write=True)
    if is_tensor_list(argument.type):
        alias = AliasInfo(write=True, contained=(alias,))
    return replace(argument, alias=alias)


def refused_schema(schema: FunctionSchema, tags: tuple[str, ...]) -> str | None:
    """Message with which ``custom_op`` refuses the schema; None where it takes it."""
    if keyword_tensors(schema) and OUT not in tags:
        text = str(schema).partition("::")[2]
        return f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {text}"
    return None


def refused_devices(schema: FunctionSchema, library: TorchLibrary) -> str | None:
    """Message with which ``register_kernel`` refuses devices for operators without tensors; None if it takes them."""
    if not library.backend_select or has_tensors(schema) or has_device(schema):
        return None
    return "Functions without tensor inputs are required to have a `device: torch.device` argument"


def has_device(schema: FunctionSchema) -> bool:
    """``get_device_arg_index``: an argument ``Device device``."""
    return any(argument.name == "device" and argument.type.kind is TypeKind.DEVICE for argument in schema.arguments)


def refused_autograd(
    schema: FunctionSchema, tags: tuple[str, ...], of_custom_op: bool, library: TorchLibrary
) -> str | None:
    """Message with which ``register_autograd`` refuses the operator; None where it takes it."""
    if schema.unknown is not None:
        return None
    shown = f"<CustomOpDef({schema.name})>" if of_custom_op else schema.name.in_python
    if library.takes_tags and OUT in tags:
        return (
            f"Cannot register autograd formula for operator tagged with torch.Tag.out: {shown}. Out variants do not "
            "support autograd."
        )
    if not is_functional(schema, of_custom_op and library.views_differentiable):
        return (
            f"Cannot register autograd formula for non-functional operator {shown} with schema {schema}. Please "
            "create a functional operator and register an autograd formula for that."
        )
    if not of_custom_op and keyword_tensors(schema):
        return (
            "register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
            f"tensors not kwarg-only. Got: {schema}"
        )
    return None


def refused_vmap(schema: FunctionSchema, of_custom_op: bool) -> str | None:
    """Message with which ``register_vmap`` refuses the operator; None where it takes it."""
    if of_custom_op or not keyword_tensors(schema):
        return None
    return (
        "register_vmap with kwarg-only Tensor args. In the original definition of the op, please make your tensors not "
        f"kwarg-only. Got: {schema}"
    )


def refused_device(device: str, library: TorchLibrary) -> str:
    """Message of ``torch.device`` about a device type that it does not know."""
    return f"Expected one of {', '.join(library.device_types)} device type at start of device string: {device}"


def refused_autocast(device: str, library: TorchLibrary) -> str | None:
    """Message with which ``register_autocast`` refuses a device type that PyTorch knows; None where it takes it."""
    return None if device in library.autocast_devices else f"Device type '{device}' does not support autocast."
