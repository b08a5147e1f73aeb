"""``inspect.signature`` and the types in annotations, as helpers of projects look at them to make schemas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch_cli.extract.python.annotations import SPELLINGS, has_future_annotations, spelled_type
from dispatch_cli.extract.python.values import (
    ClassValue,
    Dotted,
    FunctionValue,
    ObjectValue,
    TypeArguments,
    Value,
    constant,
    source_text,
)

EMPTY = Dotted("inspect._empty")
"""Stands for an annotation or a default that is not there."""
_TYPES = frozenset(
    (
        *(*SPELLINGS, *SPELLINGS.values(), EMPTY.name, "builtins.NoneType", "builtins.complex", "builtins.dict"),
        *("torch.Generator", "torch.SymInt", "torch.SymFloat", "torch.SymBool", "torch.Tensor", "torch.dtype"),
        *("torch.device", "torch.layout", "torch.memory_format", "torch.nn.Parameter", "typing.Any", "typing.Union"),
        *("typing.Optional", "types.UnionType"),
    )
)
_ORIGINS = {"typing.Optional": "typing.Union", "typing.List": "builtins.list", "typing.Tuple": "builtins.tuple"}


def signature_of(function: FunctionValue, evaluate: Callable[..., Value]) -> Value:
    """The result of ``inspect.signature``. evaluate: the value of an expression in a scope."""
    while function.wrapped is not None and function.wrapped is not function:
        function = function.wrapped
    arguments = function.node.args
    texts = has_future_annotations(function.scope)

    def annotation(node: object) -> Value:
        if node is None:
            return EMPTY
        return source_text(node) if texts else evaluate(node, function.scope)

    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [EMPTY] * (len(positional) - len(function.defaults)) + list(function.defaults)
    rows = list(zip(positional, defaults, strict=False))[1 if function.bound else 0 :]
    rows += [(argument, function.keyword_defaults.get(argument.arg, EMPTY)) for argument in arguments.kwonlyargs]
    rows += [(argument, EMPTY) for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    parameters = {
        node.arg: ObjectValue({"name": node.arg, "annotation": annotation(node.annotation), "default": default})
        for node, default in rows
    }
    returned = annotation(getattr(function.node, "returns", None))
    return ObjectValue({"parameters": parameters, "return_annotation": returned})


def type_origin(value: Value) -> Value:
    """The result of ``typing.get_origin``."""
    if not isinstance(value, TypeArguments):
        return None
    name = value.origin.name if isinstance(value.origin, Dotted) else ""
    return Dotted(_ORIGINS[name]) if name in _ORIGINS else value.origin


def type_arguments(value: Value) -> tuple[Value, ...]:
    """The result of ``typing.get_args``."""
    if not isinstance(value, TypeArguments):
        return ()
    optional = value.origin == Dotted("typing.Optional")
    return (*value.arguments, Dotted("builtins.NoneType")) if optional else value.arguments


def same_type(left: Value, right: Value, equal: bool = True) -> bool | None:
    """True if two values are the same type; None where one of them is not known to be a type.

    equal: types of two spellings are the same.
    """
    types = [_is_known_type(side) for side in (left, right)]
    if not any(types) or not all(known or constant(side) for known, side in zip(types, (left, right), strict=True)):
        return None
    if isinstance(left, TypeArguments) and isinstance(right, TypeArguments):
        spellings = [spelled_type(side) for side in (left, right)]
        return spellings[0] == spellings[1] if equal and None not in spellings else None
    if isinstance(left, Dotted) and isinstance(right, Dotted):
        return SPELLINGS.get(left.name, left.name) == SPELLINGS.get(right.name, right.name)
    return left is right


def one_of_types(value: Value, types: Sequence[Value]) -> bool | None:
    """True if a type is among others; None where that is not known."""
    answers = [same_type(value, type_) for type_ in types]
    return True if True in answers else None if None in answers or not answers else False


def _is_known_type(value: Value) -> bool:
    if isinstance(value, Dotted):
        return value.name in _TYPES
    return isinstance(value, TypeArguments | ClassValue)
