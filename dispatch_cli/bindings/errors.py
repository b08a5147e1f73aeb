"""Refusals as PyTorch raises them, with PyTorch's text: mostly a plain RuntimeError."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema, SchemaError, parse_operator_name, parse_schema

_Value = TypeVar("_Value")
_Parsed = TypeVar("_Parsed")


def raised_by_pytorch(error: RuntimeError) -> Exception:
    """Exception that PyTorch raises in place of a refusal, or of another error: its text ends at a zero byte.

    Python refuses a text that is no UTF-8.
    """
    text = str(error).partition("\0")[0]
    try:
        as_text(text)
    except UnicodeDecodeError as undecodable:
        return undecodable
    return error if type(error) is RuntimeError and text == str(error) else RuntimeError(text)


def as_text(value: _Value) -> _Value:
    """*value*, which texts in it that came as bytes leave as PyTorch's do. Errors: UnicodeDecodeError."""
    if isinstance(value, str):
        if not value.isascii():
            value.encode(errors="surrogateescape").decode()
    elif isinstance(value, list):
        for part in value:
            as_text(part)
    return value


def given(text: str | None) -> str:
    """A text that C++ makes a ``std::string`` of. Errors: RuntimeError for a null pointer."""
    if text is None:
        raise RuntimeError("basic_string: construction from null is not valid")
    return text


def internal_assert(condition: str, source: str, message: str = "") -> RuntimeError:
    """The error of a failed ``TORCH_INTERNAL_ASSERT``; *source* is a path in PyTorch's repository.

    PyTorch also names the machine's build path and the line, which say nothing here.
    """
    text = f'{condition} INTERNAL ASSERT FAILED at "{source}", please report a bug to PyTorch. {message}'
    return RuntimeError(text)


def read_name(text: str | None) -> OperatorName:
    """Read an operator name. Errors: RuntimeError."""
    return _read(parse_operator_name, text)


def read_schema(text: str | None) -> FunctionSchema:
    """Read a schema as ``torch::schema`` does. Errors: RuntimeError, in our words."""
    return _read(parse_schema, text)


def _read(parse: Callable[[str], _Parsed], text: str | None) -> _Parsed:
    try:
        return parse(given(text).partition("\0")[0])  # PyTorch takes texts as C does, up to a zero byte
    except SchemaError as error:
        raise RuntimeError(error.message) from None
