"""Refusals as PyTorch raises them, with PyTorch's text: mostly a plain RuntimeError."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema, SchemaError, parse_operator_name, parse_schema
from dispatch_cli.model.schema.refusal import internal_assert_text

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
    """The error of a failed ``TORCH_INTERNAL_ASSERT``; *source* is a path in PyTorch's repository."""
    return RuntimeError(internal_assert_text(condition, source, message))


def read_name(text: str | None) -> OperatorName:
    """Read an operator name. Errors: what PyTorch raises."""
    return _read(parse_operator_name, text)


def read_schema(text: str | None, *, allow_typevars: bool = False) -> FunctionSchema:
    """Read a schema as ``torch::schema`` does, or ``torch::jit::parseSchema``, which takes type variables.

    Errors: what PyTorch raises.
    """
    return _read(partial(parse_schema, allow_typevars=allow_typevars), text)


def _read(parse: Callable[[str], _Parsed], text: str | None) -> _Parsed:
    try:
        return parse(given(text).partition("\0")[0])  # PyTorch takes texts as C does, up to a zero byte
    except SchemaError as error:
        raise raised_for(error) from None


def raised_for(error: SchemaError) -> Exception:
    """The error that PyTorch raises in place of *error*; a RuntimeError in our words beyond our limits alone."""
    if error.refusal is None:
        return RuntimeError(error.message)
    try:
        return error.refusal.exception(error.refusal.text.decode())
    except UnicodeDecodeError as undecodable:  # PyTorch too fails to make a str of half a character
        return undecodable
