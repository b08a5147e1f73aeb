"""Schemas, signatures and operator names in declarations, with their errors placed inside the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dispatch_cli.declarations.fields import word_of
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import (
    FunctionSchema,
    SchemaError,
    parse_operator_name,
    parse_printed_schema,
    parse_schema,
    parse_signature,
)

_Read = TypeVar("_Read")


def read_schema(context: FileContext, node: Node | None, namespace: str | None = None) -> FunctionSchema | None:
    """The schema in a text; *namespace* is that of the block around it. None, noting it, when it is not one."""
    if type(node) is not Scalar:
        return None
    problems = context.problems
    if "(" not in node.text:
        problems.add(
            "bad-schema",
            "expected a schema, such as ns::name(Tensor x) -> Tensor, found a name without arguments",
            node,
            "for an operator that is defined elsewhere, use the field name instead of func"
            if namespace is None
            else None,
        )
        return None
    parse = parse_printed_schema if context.snapshot else parse_schema
    return _read(problems, node, parse, "bad-schema")


def unknown_schema(name: OperatorName, reason: str | None) -> FunctionSchema:
    """The schema of an operator whose schema is not known: nothing but its name is."""
    return FunctionSchema(name, (), (), is_vararg=True, is_varret=True, unknown=reason or "")


def read_signature(problems: Problems, node: Scalar) -> FunctionSchema | None:
    """The inferred signature in a text; None, noting it, when it is not one."""
    return _read(problems, node, parse_signature, "bad-signature")


def read_operator_name(problems: Problems, node: Node | None) -> OperatorName | None:
    """The operator name in a text; None, noting it, when it is not one."""
    if word_of(problems, node) is None or type(node) is not Scalar:
        return None
    return _read(problems, node, parse_operator_name, "bad-operator-name")


def _read(problems: Problems, node: Scalar, parse: Callable[[str], _Read], code: str) -> _Read | None:
    try:
        return parse(node.text)
    except SchemaError as error:
        problems.add(code, error.message, problems.inside(node, error.offset), error.hint)
        return None
