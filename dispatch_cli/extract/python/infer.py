"""The schema that ``torch.library.infer_schema`` makes of a function's annotations (torch/_library/infer_schema.py)."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dispatch_cli.extract.python.annotations import (
    PARAMETER_TYPES,
    RETURN_TYPES,
    SIGNATURE,
    NoSchema,
    annotated_type,
    is_known_type,
    unwrapped,
)
from dispatch_cli.extract.python.evaluation.values import (
    Dotted,
    FunctionValue,
    InstanceValue,
    Opaque,
    Scope,
    Value,
    function_name,
    items_of,
    source_text,
)

_DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "short": "int16", "int": "int32", "long": "int64",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip
DTYPES = frozenset(
    (
        *_DTYPES.values(),
        *("bfloat16", "bool", "uint8", "int8", "uint16", "uint32", "uint64", "quint8", "qint8", "qint32"),
        *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    )
)


def infer_schema(
    function: Value, mutates: Value, evaluate: Callable[[ast.expr, Scope], Value], tags: tuple[str, ...] = ()
) -> str:
    """The schema without a name. mutates: ``mutates_args``. evaluate: the value of an annotation.

    Errors: `NoSchema`, where PyTorch refuses the function, or where the sources do not say what its annotations are.
    """
    function = unwrapped(function) if isinstance(function, FunctionValue) else function
    if not isinstance(function, FunctionValue) or isinstance(function.node, ast.Lambda):
        raise NoSchema("the function is not a function of these sources")
    if SIGNATURE in function.attributes:
        raise NoSchema("the signature of the function is set by hand")
    if "out" in tags:
        raise NoSchema("which results are the arguments that torch.Tag.out is about is not followed")
    writes = _written(mutates)
    scope = function.scope
    params: list[str] = []
    first: tuple[str, str, str] | None = None
    positional, by_name = _parameters(function)
    for index, node in enumerate((*positional, *by_name)):
        if by_name and node is by_name[0]:
            params.append("*")
        kind = _parameter_type(node, evaluate, scope)
        if index == 0 and positional:
            first = node.arg, kind, "a0"
        if (writes is None and kind.startswith("Tensor")) or (writes is not None and node.arg in writes):
            if not kind.startswith("Tensor"):
                words = "is in mutable_args but only Tensors or collections of Tensors can be mutated"
                why = f"parameter {node.arg} is in mutates_args, but it is not a tensor"
                raise NoSchema(why, f"Parameter {node.arg} {words}")
            kind = f"Tensor(a{index}!){kind[len('Tensor') :]}"
        default = f"={_default(node.arg, function.defaults[node.arg])}" if node.arg in function.defaults else ""
        params.append(f"{kind} {node.arg}{default}")
    unknown = sorted(set(writes or ()) - {node.arg for node in (*positional, *by_name)})
    if unknown:
        shown = f"{{{', '.join(map(repr, unknown))}}}"
        raise NoSchema(
            f"{', '.join(unknown)} in mutates_args is no parameter of the function",
            f"{shown} in mutates_args were not found in the custom op's signature.",
        )
    returned = _return_type(function, evaluate, scope)
    if "inplace" in tags:
        if first is None or first[1] != "Tensor" or returned != "Tensor" or writes != (first[0],):
            raise NoSchema("torch.Tag.inplace needs a function that writes to its first Tensor and returns it")
        returned = f"Tensor({first[2]}!)"
    return f"({', '.join(params)}) -> {returned}"


def _written(mutates: Value) -> tuple[str, ...] | None:
    """The names in ``mutates_args``; None for ``unknown``."""
    if mutates == "unknown":
        return None
    items = None if isinstance(mutates, str) else items_of(mutates)
    if items is None or not all(isinstance(item, str) for item in items):
        raise NoSchema("mutates_args is neither 'unknown' nor names that are written out")
    return tuple(dict.fromkeys(items))


def _parameters(function: FunctionValue) -> tuple[list[ast.arg], list[ast.arg]]:
    """The parameters by position, and those by name."""
    arguments = function.node.args
    if arguments.posonlyargs or arguments.vararg or arguments.kwarg:
        words = "We do not support positional-only args, varargs, or varkwargs."
        raise NoSchema("positional-only parameters, *args and **kwargs are not supported", words)
    return arguments.args[1 if function.bound else 0 :], arguments.kwonlyargs


def _parameter_type(node: ast.arg, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> str:
    if node.annotation is None:
        words = f"Parameter {node.arg} must have a type annotation."
        raise NoSchema(f"parameter {node.arg} has no annotation", words)
    kind = annotated_type(node.annotation, evaluate, scope)
    spelling = PARAMETER_TYPES.get(kind)
    if spelling is None:
        shown = source_text(node.annotation)
        refused = f"Parameter {node.arg} has unsupported type {shown}." if is_known_type(kind) else None
        raise NoSchema(f"parameter {node.arg} has the type {shown}, which has no schema type", refused)
    return spelling


def _default(name: str, default: Value) -> str:
    match default:
        case None | bool() | int() | float():
            return str(default)
        case str():
            return f'"{default}"'
        case Dotted(full) if full.startswith("torch.") and _dtype(full) is not None:
            return str(_dtype(full))
        case Opaque() | Dotted() | InstanceValue():
            raise NoSchema(f"the default of parameter {name}, {function_name(default)}, is not known")
    literal = isinstance(default, list | tuple | set | dict)
    refused = f"Parameter {name} has an unsupported default value" if literal else None
    raise NoSchema(f"the default of parameter {name} has a type that schemas do not have", refused)


def _dtype(name: str) -> str | None:
    last = name.removeprefix("torch.")
    last = _DTYPES.get(last, last)
    return last if last in DTYPES else None


def _return_type(function: FunctionValue, evaluate: Callable[[ast.expr, Scope], Value], scope: Scope) -> str:
    assert not isinstance(function.node, ast.Lambda)
    node = function.node.returns
    if node is None:
        words = "No return type annotation was provided. Please add one."
        raise NoSchema("the function has no annotation of what it returns", words)
    kind = annotated_type(node, evaluate, scope)
    if kind == "None":
        return "()"
    if isinstance(kind, tuple) and kind[0] == "tuple":
        parts = [RETURN_TYPES.get(part) for part in kind[1]]
        if None not in parts:
            inside = ", ".join(str(part) for part in parts)
            return f"(({inside}))" if len(parts) == 1 else f"({inside})"
    elif (spelling := RETURN_TYPES.get(kind)) is not None:
        return spelling
    elif kind == "tuple" and _bare_typing_tuple(evaluate(node, scope)):
        return "()"
    refused = f"Return has unsupported type {source_text(node)}." if is_known_type(kind) else None
    raise NoSchema(f"the function returns {source_text(node)}, which has no schema type", refused)


def _bare_typing_tuple(value: Value) -> bool:
    return isinstance(value, Dotted) and value.name.startswith("typing.")
