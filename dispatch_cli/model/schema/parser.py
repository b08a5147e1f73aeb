"""Reading schema text. The grammar is that of PyTorch's function_schema_parser.cpp and schema_type_parser.cpp, quirks
included: what PyTorch refuses is refused here, and what it accepts is read to the same effect.

Known differences: PyTorch knows which custom classes (``__torch__.torch.classes.ns.Name``) are registered, and here
every name is taken; alias sets keep their order, where PyTorch prints that of a hash table; the limits of `cursor`
apply; and what no operator has is not understood: comments, type variables, Union and Future types, and the values
that `defaults` names.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from dispatch_cli.model.names import NO_DEFAULT_OVERLOAD, OperatorName
from dispatch_cli.model.schema.cursor import Cursor, SchemaError, is_name, shortened
from dispatch_cli.model.schema.defaults import read_default, read_printed
from dispatch_cli.model.schema.model import Argument, Default, FunctionSchema
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
def parse_schema(text: str) -> FunctionSchema:
    """Read a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    Errors: SchemaError.
    """
    return _read_schema(text, Reading.WRITTEN)


def _read_schema(text: str, reading: Reading) -> FunctionSchema:
    parser = _Parser(Cursor(text), reading)
    name = parser.operator_name()
    return parser.cursor.finish(parser.schema(name))


@lru_cache(maxsize=16384)
def parse_printed_schema(text: str) -> FunctionSchema:
    """Read a schema as PyTorch prints it, ``str`` of which is *text* again.

    PyTorch's parser refuses some of what PyTorch prints: ``Tensor! out`` is printed as ``Tensor($0! -> ) out``, and
    strings may be printed without quotes. Errors: SchemaError.
    """
    try:
        schema = _read_schema(text, Reading.PRINTED)
        if str(schema) == text:
            return schema
    except SchemaError:
        pass
    return _read_schema(text, Reading.PRINTED_LOOSELY)


@lru_cache(maxsize=16384)
def parse_signature(text: str) -> FunctionSchema:
    """Read a signature as dumps show it: ``(Tensor _0, Scalar _1) -> Tensor _0``. Its name is empty.

    Types inside tuples and the like are the real ones, unlike in a schema. Raises SchemaError.
    """
    parser = _Parser(Cursor(text), Reading.PRINTED)
    return parser.cursor.finish(parser.schema(OperatorName("")))


@lru_cache(maxsize=16384)
def parse_operator_name(text: str) -> OperatorName:
    """Read ``ns::name.overload``, as ``torch::jit::parseName`` does; namespace and overload may be missing.

    Raises SchemaError.
    """
    parser = _Parser(Cursor(text))
    name = parser.operator_name()
    if parser.cursor.token == "(":
        parser.cursor.fail("expected only an operator name but found a schema")
    return parser.cursor.finish(name)


class _Parser:
    """Reads names, arguments and returns at the cursor."""

    def __init__(self, cursor: Cursor, reading: Reading = Reading.WRITTEN) -> None:
        self.cursor = cursor
        self._reading = reading
        self._types = TypeReader(cursor, reading is not Reading.WRITTEN)

    def operator_name(self) -> OperatorName:
        """``ns::name.overload``."""
        name = self.cursor.name("an operator name")
        if self.cursor.next_if(":"):
            self.cursor.expect(":")
            name = f"{name}::{self.cursor.name('an operator name')}"
        overload = ""
        if self.cursor.next_if("."):
            overload = self.cursor.name("an overload name")
            # torch.ops uses these itself: default for the overload without a name, __ for attributes.
            if overload == "default" or overload.startswith("__"):
                message = f"'{shortened(overload)}' is not a legal overload name"
                hint = NO_DEFAULT_OVERLOAD if overload == "default" else None
                self.cursor.fail(message, self.cursor.index - 1, hint)
        return OperatorName(name, overload)

    def schema(self, name: OperatorName) -> FunctionSchema:
        """Arguments, arrow, returns."""
        arguments, starts, is_vararg = self._arguments()
        self.cursor.expect("->")
        returns: tuple[Argument, ...] = ()
        is_varret = self.cursor.next_if("...")
        if not is_varret:
            returns, is_varret = self._returns() if self.cursor.token == "(" else ((self._return(),), False)
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
                self.cursor.fail("'...' must be the last of the arguments")
            if self.cursor.next_if("*"):
                kwarg_only = True
            elif self.cursor.next_if("..."):
                is_vararg = True
            else:
                starts.append(self.cursor.index)
                arguments.append(self._argument(kwarg_only))

        self.cursor.bracketed(item)
        if is_vararg and any(argument.default is not None for argument in arguments):
            self.cursor.fail("a schema with '...' cannot have default values", self.cursor.index - 1)
        return tuple(arguments), starts, is_vararg

    def _check_order(self, schema: FunctionSchema, starts: list[int]) -> None:
        """A positional argument needs a default when one before it has one; lists are let off, for old schemas."""
        has_default = False
        for argument, start in zip(schema.arguments, starts, strict=True):
            if argument.default is not None:
                has_default = True
            elif has_default and not argument.kwarg_only and argument.real_type.kind is not TypeKind.LIST:
                message = f"'{shortened(argument.name)}' has no default, but an argument before it has one"
                self.cursor.fail(message, start)

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        arguments: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                self.cursor.fail("'...' must be the last of the returns")
            if self.cursor.next_if("..."):
                is_varret = True
            else:
                arguments.append(self._return())

        self.cursor.bracketed(item)
        return tuple(arguments), is_varret

    def _argument(self, kwarg_only: bool) -> Argument:
        real, alias, size = self._types.sized_type()
        name = self.cursor.name("an argument name")
        default = None
        if self.cursor.next_if("="):
            if self._reading is Reading.PRINTED_LOOSELY:
                printed = self.cursor.printed_default()
                default = Default(read_printed(printed), printed)
            else:
                default = Default(read_default(self.cursor, real, size))
        return Argument(name, real, size, default, kwarg_only, alias)

    def _return(self) -> Argument:
        real, alias, size = self._types.sized_type()
        name = self.cursor.advance() if is_name(self.cursor.token) else ""
        return Argument(name, real, size, alias=alias)
