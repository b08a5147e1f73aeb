"""Reading schema text. The grammar is that of PyTorch's function_schema_parser.cpp and schema_type_parser.cpp, quirks
included: what PyTorch refuses is refused here, and what it accepts is read to the same effect.

Known differences: PyTorch knows which custom classes (``__torch__.torch.classes.ns.Name``) are registered, and here
every name is taken; alias sets keep their order, where PyTorch prints that of a hash table; and the limits of
`schema_error` apply.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from dispatch_cli.model.names import NO_DEFAULT_OVERLOAD, OperatorName
from dispatch_cli.model.schema.constants import read_printed
from dispatch_cli.model.schema.cursor import Cursor
from dispatch_cli.model.schema.default_parser import read_default
from dispatch_cli.model.schema.error import SchemaError, shortened
from dispatch_cli.model.schema.lexer import is_name
from dispatch_cli.model.schema.model import Argument, Default, FunctionSchema
from dispatch_cli.model.schema.refusal import asserted, plain, pointed
from dispatch_cli.model.schema.type_parser import TypeReader
from dispatch_cli.model.schema.types import TypeKind


class Reading(Enum):
    """Source of a text, which decides what may be in it."""

    WRITTEN = auto()
    """Written for PyTorch to read."""
    PRINTED = auto()
    """Printed by PyTorch."""
    PRINTED_LOOSELY = auto()
    """Printed by PyTorch, with defaults of which it does not read the print."""


@lru_cache(maxsize=16384)
def parse_schema(text: str, *, allow_typevars: bool = True) -> FunctionSchema:
    """Read a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    allow_typevars: take unknown lower-case words for type variables, as ``torch._C.parse_schema`` does. ``m.def``
    takes them in the namespaces aten and prim only: pass False for that. Raises SchemaError.
    """
    return _read_schema(text, allow_typevars or text.startswith(("aten::", "prim::")), Reading.WRITTEN)


def _read_schema(text: str, allow_typevars: bool, reading: Reading) -> FunctionSchema:
    cursor = Cursor(text, comments=reading is not Reading.PRINTED_LOOSELY)
    parser = _Parser(cursor, allow_typevars, reading)
    name = parser.operator_name()
    if cursor.token != "(":
        cursor.only_name_found()
    return cursor.finish(parser.schema(name))


@lru_cache(maxsize=16384)
def parse_printed_schema(text: str) -> FunctionSchema:
    """Read a schema as PyTorch prints it, ``str`` of which is *text* again.

    PyTorch's parser refuses some of what PyTorch prints: ``Tensor! out`` is printed as ``Tensor($0! -> ) out``, and
    strings may be printed without quotes. Raises SchemaError.
    """
    try:
        schema = _read_schema(text, True, Reading.PRINTED)
        if str(schema) == text:
            return schema
    except SchemaError:
        pass
    return _read_schema(text, True, Reading.PRINTED_LOOSELY)


@lru_cache(maxsize=16384)
def parse_signature(text: str) -> FunctionSchema:
    """Read a signature as dumps show it: ``(Tensor _0, Scalar _1) -> Tensor _0``. Its name is empty.

    Types inside tuples and the like are the real ones, unlike in a schema. Raises SchemaError.
    """
    cursor = Cursor(text)
    return cursor.finish(_Parser(cursor, True, Reading.PRINTED).schema(OperatorName("")))


@lru_cache(maxsize=16384)
def parse_operator_name(text: str) -> OperatorName:
    """Read ``ns::name.overload``, as ``torch::jit::parseName`` does; namespace and overload may be missing.

    Raises SchemaError.
    """
    cursor = Cursor(text)
    parser = _Parser(cursor, True)
    name = parser.operator_name()
    if cursor.token == "(":
        bracket = cursor.index
        cursor.finish(parser.schema(name))
        theirs = plain("Tried to parse an operator name but function schema was given")
        cursor.fail("expected only an operator name but found a schema", theirs, bracket)
    return cursor.finish(name)


class _Parser:
    """Reads names, arguments and returns at the cursor."""

    def __init__(self, cursor: Cursor, allow_typevars: bool, reading: Reading = Reading.WRITTEN) -> None:
        self._cursor = cursor
        self._reading = reading
        self._types = TypeReader(cursor, allow_typevars, reading is not Reading.WRITTEN)

    def operator_name(self) -> OperatorName:
        """``ns::name.overload``."""
        name = self._cursor.name("an operator name")
        if self._cursor.next_if(":"):
            self._cursor.expect(":")
            name = f"{name}::{self._cursor.name('an operator name')}"
        overload = ""
        if self._cursor.next_if("."):
            overload = self._cursor.name("an overload name")
            # torch.ops uses these itself: default for the overload without a name, __ for attributes.
            if overload == "default" or overload.startswith("__"):
                theirs = plain(f"{overload} is not a legal overload name for aten operators")
                message = f"'{shortened(overload)}' is not a legal overload name"
                hint = NO_DEFAULT_OVERLOAD if overload == "default" else None
                self._cursor.fail(message, theirs, self._cursor.index - 1, hint)
        return OperatorName(name, overload)

    def schema(self, name: OperatorName) -> FunctionSchema:
        """Arguments, arrow, returns."""
        arguments, starts, is_vararg = self._arguments()
        self._cursor.expect("->")
        returns: tuple[Argument, ...] = ()
        is_varret = self._cursor.next_if("...")
        if not is_varret:
            returns, is_varret = self._returns() if self._cursor.token == "(" else ((self._return(),), False)
        schema = FunctionSchema(name, arguments, returns, is_vararg, is_varret)
        if self._reading is Reading.WRITTEN:
            self._check_order(schema, starts)
        return schema

    def _arguments(self) -> tuple[tuple[Argument, ...], list[int], bool]:
        """The arguments, the tokens that they start at, and whether they go on."""
        arguments: list[Argument] = []
        starts: list[int] = []
        kwarg_only = is_vararg = False

        def item() -> None:
            nonlocal kwarg_only, is_vararg
            if is_vararg:
                words = pointed("... must be the last element of the argument list")
                self._cursor.fail("'...' must be the last of the arguments", words)
            if self._cursor.next_if("*"):
                kwarg_only = True
            elif self._cursor.next_if("..."):
                is_vararg = True
            else:
                starts.append(self._cursor.index)
                arguments.append(self._argument(kwarg_only))

        self._cursor.bracketed(item)
        if is_vararg and any(argument.default is not None for argument in arguments):
            words = pointed("schemas with vararg (...) can't have default value args")
            self._cursor.fail("a schema with '...' cannot have default values", words, self._cursor.index - 1)
        return tuple(arguments), starts, is_vararg

    def _check_order(self, schema: FunctionSchema, starts: list[int]) -> None:
        """A positional argument needs a default when one before it has one; lists are let off, for old schemas."""
        has_default = False
        for argument, start in zip(schema.arguments, starts, strict=True):
            if argument.default is not None:
                has_default = True
            elif has_default and not argument.kwarg_only and argument.type.kind is not TypeKind.LIST:
                words = "Non-default positional argument follows default argument. Parameter "
                words += f"{argument.name} in {schema.printed()}"
                self._cursor.fail(
                    f"'{shortened(argument.name)}' has no default, but an argument before it has one",
                    asserted("!seen_default_arg || arg.kwarg_only()", "aten/src/ATen/core/function_schema.h", words),
                    start,
                )

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        arguments: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                words = pointed("... must be the last element of the return list")
                self._cursor.fail("'...' must be the last of the returns", words)
            if self._cursor.next_if("..."):
                is_varret = True
            else:
                arguments.append(self._return())

        self._cursor.bracketed(item)
        return tuple(arguments), is_varret

    def _argument(self, kwarg_only: bool) -> Argument:
        seen, real, alias, size = self._types.sized_type()
        name = self._cursor.name("an argument name")
        default = None
        if self._cursor.next_if("="):
            if self._reading is Reading.PRINTED_LOOSELY:
                printed = self._cursor.printed_default()
                default = Default(read_printed(printed), printed)
            else:
                default = Default(read_default(self._cursor, seen, real, size))
        return Argument(name, seen, real, size, default, kwarg_only, alias)

    def _return(self) -> Argument:
        seen, real, alias, size = self._types.sized_type()
        return Argument(
            self._cursor.advance() if is_name(self._cursor.token) else "", seen, real, size, None, False, alias
        )
