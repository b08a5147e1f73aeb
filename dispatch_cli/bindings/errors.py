"""Refusals as PyTorch raises them: a RuntimeError, with PyTorch's text."""

from __future__ import annotations

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.parser import parse_operator_name, parse_schema


def internal_assert(condition: str, source: str, message: str = "") -> RuntimeError:
    """The error of a failed ``TORCH_INTERNAL_ASSERT``; *source* is a path in PyTorch's repository.

    PyTorch also names the machine's build path and the line, which say nothing here.
    """
    text = f'{condition} INTERNAL ASSERT FAILED at "{source}", please report a bug to PyTorch. {message}'
    return RuntimeError(text)


def read_name(text: str) -> OperatorName:
    """Read an operator name. Errors: RuntimeError."""
    try:
        return parse_operator_name(text)
    except SchemaError as error:
        raise RuntimeError(error.message) from None


def read_schema(text: str) -> FunctionSchema:
    """Read a schema as ``torch::schema`` does. Errors: RuntimeError, in our words."""
    try:
        return parse_schema(text)
    except SchemaError as error:
        raise RuntimeError(error.message) from None
