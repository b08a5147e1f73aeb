"""Every refusal as PyTorch raises it, with PyTorch's text: mostly a plain RuntimeError."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema, SchemaError, parse_operator_name, parse_schema
from dispatch_cli.model.schema.refusal import internal_assert_text

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
    """The error of a failed ``TORCH_INTERNAL_ASSERT``; *source* is a path in PyTorch's repository."""
    return RuntimeError(internal_assert_text(condition, source, message))


def read_name(text: str) -> OperatorName:
    """Read an operator name. Errors: what PyTorch raises."""
    return _read(parse_operator_name, text)


def read_schema(text: str, *, allow_typevars: bool = False) -> FunctionSchema:
    """Read a schema as ``torch::schema`` does, or ``torch::jit::parseSchema``, which takes type variables.

    Errors: what PyTorch raises.
    """
    return _read(partial(parse_schema, allow_typevars=allow_typevars), text)


def _read(parse: Callable[[str], _Parsed], text: object) -> _Parsed:
    if not isinstance(text, str):
        raise TypeError(f"a str is needed, not {text!r}")
    try:
        return parse(text.partition("\0")[0])  # PyTorch takes texts as C does, up to a zero byte
    except SchemaError as error:
        raise raised_for(error) from None


def raised_for(error: SchemaError) -> Exception:
    """What PyTorch raises in place of *error*; a RuntimeError in our words for what is beyond our limits alone."""
    if error.refusal is None:
        return RuntimeError(error.message)
    try:
        return error.refusal.exception(error.refusal.text.decode())
    except UnicodeDecodeError as undecodable:  # PyTorch too fails to make a str of half a character
        return undecodable
