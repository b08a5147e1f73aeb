"""Every refusal as PyTorch raises it: a plain RuntimeError with PyTorch's text."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from dispatch_cli.engine.refusal import Refused
from dispatch_cli.model.function_schema import (
    FunctionSchema,
    SchemaError,
    parse_operator_name,
    parse_schema,
)
from dispatch_cli.model.names import OperatorName

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Parsed = TypeVar("_Parsed")


def refuses(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let the engine's refusals leave *function* as RuntimeError."""

    @wraps(function)
    def refusing(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except Refused as refused:
            raise RuntimeError(str(refused)) from None

    return refusing


def internal_assert(condition: str, source: str, message: str = "") -> RuntimeError:
    """The error of a failed ``TORCH_INTERNAL_ASSERT``.

    PyTorch also names the machine's build path and the line, which say nothing here: *source* is the path in its
    repository.
    """
    return RuntimeError(f'{condition} INTERNAL ASSERT FAILED at "{source}", please report a bug to PyTorch. {message}')


def read_name(text: str) -> OperatorName:
    """Read an operator name. Errors: RuntimeError, pointing at the place."""
    return _read(parse_operator_name, text)


def read_schema(text: str) -> FunctionSchema:
    """Read a schema as ``m.def`` does. Errors: RuntimeError, pointing at the place."""
    if isinstance(text, str) and "(" not in text:
        read_name(text)
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    return _read(lambda schema: parse_schema(schema, allow_typevars=False), text)


def _read(parse: Callable[[str], _Parsed], text: object) -> _Parsed:
    if not isinstance(text, str):
        raise TypeError(f"a str is needed, not {text!r}")
    try:
        return parse(text)
    except SchemaError as error:
        pointer = " " * error.offset + "~ <--- HERE"
        raise RuntimeError(f"{error.message} here:\n{text}\n{pointer}\n") from None
