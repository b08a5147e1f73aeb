"""Reading schema text. The grammar is that of PyTorch's function_schema_parser.cpp and schema_type_parser.cpp, quirks
included: what PyTorch refuses is refused here, and what it accepts is read to the same effect.

Known differences: PyTorch knows which custom classes (``__torch__.torch.classes.ns.Name``) are registered, and here
every name is taken; alias sets keep their order, where PyTorch prints that of a hash table; the limits of `cursor`
apply; and what no operator has is not understood: comments, type variables, Union and Future types, and the values
that `types` names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from dispatch_cli.model.names import NO_DEFAULT_OVERLOAD, OperatorName
from dispatch_cli.model.schema.cursor import MAX_DEPTH, Cursor, is_name, shortened
from dispatch_cli.model.schema.model import AliasInfo, Argument, FunctionSchema
from dispatch_cli.model.schema.types import (
    BASE_TYPES,
    PRINTED_TYPES,
    SchemaType,
    TypeKind,
    compound,
    list_of,
    optional_of,
    read_default,
    seen_by_torchscript,
)
from dispatch_cli.model.text.suggest import suggestion

_TYPE_WORDS = (*BASE_TYPES, "Dict")
_UNSUPPORTED = ("Union", "Future", "Await", "RRef")
_OTHER_WORDS = {"double": "float", "int64_t": "int", "Dimname": "str", "number": "Scalar", "SymFloat": "float"}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.\w+\.\w+")
_MAX_SIZE = 2**31 - 1


@lru_cache(maxsize=16384)
def parse_schema(text: str) -> FunctionSchema:
    """Read a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    Errors: SchemaError.
    """
    parser = _Parser(Cursor(text))
    return parser.schema(parser.operator_name())


@lru_cache(maxsize=16384)
def parse_printed_schema(text: str) -> FunctionSchema:
    """Read a schema as PyTorch prints it, ``str`` of which is *text* again.

    PyTorch's parser refuses some of what PyTorch prints: ``Tensor! out`` is printed as ``Tensor($0! -> ) out``, and
    strings may be printed without quotes. Errors: SchemaError.
    """
    parser = _Parser(Cursor(text), printed=True)
    return parser.schema(parser.operator_name())


@lru_cache(maxsize=16384)
def parse_signature(text: str) -> FunctionSchema:
    """Read a signature as dumps show it: ``(Tensor _0, Scalar _1) -> Tensor _0``. Its name is empty.

    Types inside tuples and the like are the real ones, unlike in a schema. Raises SchemaError.
    """
    return _Parser(Cursor(text), printed=True).schema(OperatorName(""))


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
    """Reads names, arguments, returns and their types at the cursor.

    printed: the text is what PyTorch has printed, not what is written for it. There, types inside others are the real
    ones, and there is more than PyTorch reads: alias sets that are empty, or called ``$0``, or follow ``?``, and
    defaults such as strings without quotes.
    """

    def __init__(self, cursor: Cursor, printed: bool = False) -> None:
        self.cursor = cursor
        self._printed = printed
        self._fresh_sets = 0

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
        """Arguments, arrow, returns, and nothing after them."""
        kwarg_only = False

        def argument() -> Argument | None:
            nonlocal kwarg_only
            if not self.cursor.next_if("*"):
                return self._argument(kwarg_only)
            kwarg_only = True
            return None

        arguments, is_vararg = self._several("arguments", argument)
        if is_vararg and any(argument.default is not None for argument in arguments):
            self.cursor.fail("a schema with '...' cannot have default values", self.cursor.index - 1)
        self.cursor.expect("->")
        if self.cursor.token == "(":
            returns, is_varret = self._several("returns", self._return)
        else:
            is_varret = self.cursor.next_if("...")
            returns = () if is_varret else (self._return(),)
        return self.cursor.finish(FunctionSchema(name, arguments, returns, is_vararg, is_varret))

    def _several(self, what: str, read: Callable[[], Argument | None]) -> tuple[tuple[Argument, ...], bool]:
        """Arguments or returns in brackets, and true if ``...`` ends them."""
        items: list[Argument] = []
        goes_on = has_default = False

        def item() -> None:
            nonlocal goes_on, has_default
            start = self.cursor.index
            if goes_on:
                self.cursor.fail(f"'...' must be the last of the {what}")
            if self.cursor.next_if("..."):
                goes_on = True
            elif (argument := read()) is not None:
                items.append(argument)
                self._check_order(argument, has_default, start)
                has_default = has_default or argument.default is not None

        self.cursor.bracketed(item)
        return tuple(items), goes_on

    def _check_order(self, argument: Argument, follows_default: bool, start: int) -> None:
        """A positional argument needs a default when one before it has one; lists are let off, for old schemas."""
        if not follows_default or argument.default is not None or argument.kwarg_only:
            return
        if not self._printed and argument.real_type.kind is not TypeKind.LIST:
            message = f"'{shortened(argument.name)}' has no default, but an argument before it has one"
            self.cursor.fail(message, start)

    def _argument(self, kwarg_only: bool) -> Argument:
        real, alias, size = self._sized_type()
        name = self.cursor.name("an argument name")
        default = self._default(real, size) if self.cursor.next_if("=") else None
        return Argument(name, real, size, default, kwarg_only, alias)

    def _default(self, real: SchemaType, size: int | None) -> str:
        return self.cursor.printed_default() if self._printed else read_default(self.cursor, real, size)

    def _return(self) -> Argument:
        real, alias, size = self._sized_type()
        name = self.cursor.advance() if is_name(self.cursor.token) else ""
        return Argument(name, real, size, alias=alias)

    def _sized_type(self) -> tuple[SchemaType, AliasInfo | None, int | None]:
        """A type, perhaps with one fixed-size list around it: only an argument as a whole can have a size."""
        start = self.cursor.index
        real, alias = self._type()
        if not self.cursor.next_if("["):
            return real, alias, None
        size = self._size()
        self.cursor.expect("]")
        alias = self._alias_of_list(alias)
        real = list_of(real)
        if self.cursor.next_if("?"):
            real = optional_of(real)
        return self._checked(real, start), alias, size

    def _checked(self, real: SchemaType, start: int) -> SchemaType:
        """A type that does not nest too deep. start: where it begins."""
        if real.depth > MAX_DEPTH:
            self.cursor.fail(f"types are nested more than {MAX_DEPTH} deep", start)
        return real

    def _size(self) -> int:
        text = self.cursor.number()
        if not text.isdecimal() or len(text) > len(str(_MAX_SIZE)) or int(text) > _MAX_SIZE:
            self.cursor.fail(f"'{shortened(text)}' is not the size of a list", self.cursor.index - 1)
        return int(text)

    def _type(self) -> tuple[SchemaType, AliasInfo | None]:
        start = self.cursor.index
        real, alias = self._plain_type()
        while True:
            if self.cursor.token == "[" and self.cursor.following() == "]":
                self.cursor.advance()
                self.cursor.advance()
                real = list_of(real)
                alias = self._alias_of_list(alias)
            elif self.cursor.next_if("?"):
                if real.kind is TypeKind.NONE:
                    self.cursor.fail("None cannot be optional: it is None already", start)
                real = optional_of(real)
                alias = self._alias() or alias if self._printed else alias
            else:
                return self._checked(real, start), alias

    def _inner_type(self) -> SchemaType:
        """A type inside another one; PyTorch drops its real type and its annotation."""
        real, _ = self._type()
        return real if self._printed else seen_by_torchscript(real)

    def _plain_type(self) -> tuple[SchemaType, AliasInfo | None]:
        """A type without what may follow it (lists, optionals)."""
        word = self.cursor.token
        if word in _UNSUPPORTED:
            self.cursor.fail(f"{word} types are not understood: no operator has one", is_ours=True)
        if word == "(":
            inner = self._inner_types()
            real = compound(TypeKind.TUPLE, f"({', '.join(element.text for element in inner)})", inner)
        elif self.cursor.next_if("Dict"):
            inner = self._inner_types()
            if len(inner) != 2:
                self.cursor.fail(f"Dict holds 2 types, not {len(inner)}", self.cursor.index - 1)
            real = compound(TypeKind.DICT, f"Dict({inner[0]}, {inner[1]})", inner)
        else:
            real = self._base_type()
        # tuples and custom classes are read without an annotation, and printed with that of what is around them
        return real, self._alias() if self._printed or word not in ("(", "__torch__") else None

    def _inner_types(self) -> tuple[SchemaType, ...]:
        types: list[SchemaType] = []
        self.cursor.bracketed(lambda: types.append(self._inner_type()))
        return tuple(types)

    def _base_type(self) -> SchemaType:
        start = self.cursor.index
        word = self.cursor.advance() if self.cursor.token in ("None", "NoneType") else self.cursor.name("a type")
        while self.cursor.token == "." and is_name(self.cursor.following()):
            self.cursor.advance()
            word = f"{word}.{self.cursor.advance()}"
        if _CUSTOM_CLASS.fullmatch(word):
            return SchemaType(TypeKind.OTHER, word)
        base_type = BASE_TYPES.get(word) or (PRINTED_TYPES.get(word) if self._printed else None)
        if base_type is None:
            meant = _OTHER_WORDS.get(word)
            hint = f"did you mean {meant}?" if meant else suggestion(word, _TYPE_WORDS)
            module, _, name = word.rpartition(".")  # PyTorch can have a class as an opaque type, by its full name
            is_class = bool(module) and name[0].isupper() and name not in BASE_TYPES
            self.cursor.fail(f"'{shortened(word)}' is not a type", start, hint, is_ours=is_class)
        return base_type

    def _alias(self) -> AliasInfo | None:
        if self.cursor.next_if("("):
            return self._alias_sets()
        if not self.cursor.next_if("!"):
            return None
        self._fresh_sets += 1
        return AliasInfo((f"${self._fresh_sets - 1}",), (), True)

    def _alias_sets(self) -> AliasInfo:
        before = self._alias_set()
        write = self.cursor.next_if("!")
        after = self._alias_set() if self.cursor.next_if("->") else before
        self.cursor.expect(")")
        return AliasInfo(before, after, write)

    def _alias_set(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        if self._printed and self.cursor.token in ("!", "->", ")"):
            return ()
        while True:
            if self.cursor.next_if("*"):
                names["*"] = None
            else:
                is_fresh = self._printed and self.cursor.next_if("$")
                names[f"${self.cursor.number()}" if is_fresh else self.cursor.name("an alias set")] = None
            if not self.cursor.next_if("|"):
                return tuple(names)

    def _alias_of_list(self, element: AliasInfo | None) -> AliasInfo | None:
        """The annotation behind ``[]``, with that of the element inside it."""
        own = self._alias()
        if element is None:
            return own
        if own is None:
            return AliasInfo(write=element.write, contained=(element,))
        return AliasInfo(own.before, own.after, own.write, (element,))
