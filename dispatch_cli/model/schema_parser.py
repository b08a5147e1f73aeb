"""Reading schema text. The grammar is that of PyTorch's function_schema_parser.cpp and schema_type_parser.cpp, quirks
included: what PyTorch refuses is refused here, and what it accepts is read to the same effect.

Known differences: PyTorch knows which custom classes (``__torch__.torch.classes.ns.Name``) are registered, and here
every name is taken; alias sets keep their order, where PyTorch prints that of a hash table; hexadecimal floats below
the normal range are refused, of which PyTorch takes the exact ones; and the limits of `schema_error` apply.
"""

from __future__ import annotations

from functools import lru_cache

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema_cursor import Cursor, is_name
from dispatch_cli.model.schema_default_parser import read_default
from dispatch_cli.model.schema_error import SchemaError, shortened
from dispatch_cli.model.schema_model import Argument, Default, FunctionSchema
from dispatch_cli.model.schema_type_parser import TypeReader
from dispatch_cli.model.schema_types import TypeKind


@lru_cache(maxsize=16384)
def parse_schema(text: str, *, allow_typevars: bool = True) -> FunctionSchema:
    """Read a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    allow_typevars: take unknown lower-case words for type variables, as ``torch._C.parse_schema`` does. ``m.def``
    takes them in the namespaces aten and prim only: pass False for that. Raises SchemaError.
    """
    cursor = Cursor(text)
    parser = _Parser(cursor, allow_typevars or text.startswith(("aten::", "prim::")))
    name = parser.operator_name()
    if cursor.token != "(":
        cursor.only_name_found()
    return cursor.finish(parser.schema(name))


@lru_cache(maxsize=16384)
def parse_signature(text: str) -> FunctionSchema:
    """Read a signature as dumps show it: ``(Tensor _0, Scalar _1) -> Tensor _0``. Its name is empty.

    Types inside tuples and the like are the real ones, unlike in a schema. Raises SchemaError.
    """
    cursor = Cursor(text)
    parser = _Parser(cursor, True, real_inside=True)
    return cursor.finish(parser.schema(OperatorName("")))


@lru_cache(maxsize=16384)
def parse_operator_name(text: str) -> OperatorName:
    """Read ``ns::name.overload``, as ``torch::jit::parseName`` does; namespace and overload may be missing.

    Raises SchemaError.
    """
    cursor = Cursor(text)
    parser = _Parser(cursor, False)
    name = parser.operator_name()
    if cursor.token == "(":
        cursor.fail("expected an operator name alone but found a schema")
    return cursor.finish(name)


class _Parser:
    """Reads names, arguments and returns at the cursor."""

    def __init__(self, cursor: Cursor, allow_typevars: bool, real_inside: bool = False) -> None:
        self._cursor = cursor
        self._types = TypeReader(cursor, allow_typevars, real_inside)

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
                self._cursor.fail(f"'{shortened(overload)}' is not a legal overload name", self._cursor.index - 1)
        return OperatorName(name, overload)

    def schema(self, name: OperatorName) -> FunctionSchema:
        """Arguments, arrow, returns."""
        arguments, is_vararg = self._arguments()
        self._cursor.expect("->")
        if self._cursor.next_if("..."):
            return FunctionSchema(name, arguments, (), is_vararg, True)
        if self._cursor.token != "(":
            return FunctionSchema(name, arguments, (self._return(),), is_vararg)
        returns, is_varret = self._returns()
        return FunctionSchema(name, arguments, returns, is_vararg, is_varret)

    def _arguments(self) -> tuple[tuple[Argument, ...], bool]:
        found: list[Argument] = []
        kwarg_only = is_vararg = has_default = False

        def item() -> None:
            nonlocal kwarg_only, is_vararg, has_default
            if is_vararg:
                self._cursor.fail("'...' must be the last of the arguments")
            if self._cursor.next_if("*"):
                kwarg_only = True
            elif self._cursor.next_if("..."):
                is_vararg = True
            else:
                start = self._cursor.index
                found.append(self._argument(kwarg_only))
                self._check_order(found[-1], has_default, start)
                has_default = has_default or found[-1].default is not None

        self._cursor.bracketed(item)
        if is_vararg and has_default:
            self._cursor.fail("a schema with '...' cannot have default values", self._cursor.index - 1)
        return tuple(found), is_vararg

    def _check_order(self, argument: Argument, has_default: bool, start: int) -> None:
        """A positional argument needs a default when one before it has one; lists are let off, for old schemas."""
        excused = argument.default is not None or argument.kwarg_only or argument.type.kind is TypeKind.LIST
        if has_default and not excused:
            self._cursor.fail(f"'{shortened(argument.name)}' has no default, but an argument before it has one", start)

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        found: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                self._cursor.fail("'...' must be the last of the returns")
            if self._cursor.next_if("..."):
                is_varret = True
            else:
                found.append(self._return())

        self._cursor.bracketed(item)
        return tuple(found), is_varret

    def _argument(self, kwarg_only: bool) -> Argument:
        seen, real, alias, size = self._types.sized_type()
        name = self._cursor.name("an argument name")
        default = None
        if self._cursor.next_if("="):
            start = self._cursor.index
            try:
                default = Default(read_default(self._cursor, seen, size))
            except ValueError as problem:
                if isinstance(problem, SchemaError):
                    raise
                self._cursor.fail(str(problem), start)
        return Argument(name, seen, real, size, default, kwarg_only, alias)

    def _return(self) -> Argument:
        seen, real, alias, size = self._types.sized_type()
        return Argument(
            self._cursor.advance() if is_name(self._cursor.token) else "", seen, real, size, None, False, alias
        )
