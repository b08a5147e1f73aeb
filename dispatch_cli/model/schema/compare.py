"""Comparing a kernel's inferred signature with its operator's schema, as PyTorch does when either is registered."""

from __future__ import annotations

from dataclasses import replace

from dispatch_cli.model.schema.model import Argument, FunctionSchema
from dispatch_cli.model.schema.types import SYM_INT, SchemaType, list_of, optional_of

_SYMINTS = frozenset({SYM_INT, optional_of(SYM_INT), list_of(SYM_INT), optional_of(list_of(SYM_INT))})
"""The types that a kernel may take unpacked, as plain integers; others, such as ``SymInt?[]``, it may not."""


def takes_symint(signature: FunctionSchema) -> bool:
    """True if a C++ kernel with this inferred signature is a symbolic one (``KernelFunction::isValidSymUnboxed``).

    PyTorch decides it from the function's parameters alone (``fn_has_symint``): one of SymInt, SymInt?, SymInt[],
    SymInt[]? is enough. Returns and the boxed and unboxed flags of a dump have no part in it.
    """
    return any(argument.real_type in _SYMINTS for argument in signature.arguments)


def real_types(schema: FunctionSchema, with_symint: bool = True) -> FunctionSchema:
    """*schema* with its real types (``FunctionSchema::cloneWithRealTypes``): the form that is compared and printed.

    with_symint: False leaves SymInt arguments as int; returns keep SymInt all the same.
    """
    arguments = (replace(argument, real_type=_real_type(argument, with_symint)) for argument in schema.arguments)
    return replace(schema, arguments=tuple(arguments))


def find_schema_differences(
    expected: FunctionSchema, inferred: FunctionSchema, symint: bool | None = None
) -> str | None:
    """PyTorch's sentence on the first difference between a schema and an inferred signature, or None.

    symint: whether the kernel is a symbolic one, which must name SymInt where the schema does; one that is not names
    int there. None works it out from *inferred* with `takes_symint`, as PyTorch does. Names, defaults, aliases and
    keyword-only markers do not count. Source: ``checkSchema`` in OperatorEntry.cpp, ``findSchemaDifferences`` in
    infer_schema.cpp.
    """
    symbolic = takes_symint(inferred) if symint is None else symint
    left, right = _real(expected.arguments, symbolic), _real(inferred.arguments, True)
    left_returns, right_returns = _real(expected.returns, True), _real(inferred.returns, True)
    return (
        _difference_in_number("arguments", left, right)
        or _difference_in_number("returns", left_returns, right_returns)
        or _difference_in_type("argument", left, right)
        or _difference_in_type("return", left_returns, right_returns)
    )


def _real(arguments: tuple[Argument, ...], with_symint: bool) -> list[SchemaType]:
    return [_real_type(argument, with_symint) for argument in arguments]


def _real_type(argument: Argument, with_symint: bool) -> SchemaType:
    return argument.real_type if with_symint or argument.real_type not in _SYMINTS else argument.type


def _difference_in_number(what: str, left: list[SchemaType], right: list[SchemaType]) -> str | None:
    return None if len(left) == len(right) else f"The number of {what} is different. {len(left)} vs {len(right)}."


def _difference_in_type(what: str, left: list[SchemaType], right: list[SchemaType]) -> str | None:
    for place, (a, b) in enumerate(zip(left, right, strict=True), start=1):
        if a is not b and a != b:
            return f"Type mismatch in {what} {place}: {a} vs {b}."
    return None
