"""Reading schema text. The grammar is that of PyTorch's function_schema_parser.cpp and schema_type_parser.cpp, quirks
included: what PyTorch refuses is refused here, and what it accepts is read to the same effect.

Two things cannot be the same. PyTorch knows which custom classes (``__torch__.torch.classes.ns.Name``) are registered;
here every name is taken. And the limits of `schema_error` refuse what PyTorch would spend its memory on.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from typing import NoReturn, TypeVar

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema_constants import (
    NAMED_CONSTANTS,
    Constant,
    read_device,
    read_integer,
    read_number,
    read_string,
)
from dispatch_cli.model.schema_error import MAX_BROADCAST, MAX_DEPTH, MAX_LENGTH, SchemaError, shortened
from dispatch_cli.model.schema_lexer import END, INDENTATION, KEYWORDS, LINE_BREAK, offset_of, tokenize
from dispatch_cli.model.schema_model import AliasInfo, Argument, Default, FunctionSchema
from dispatch_cli.model.schema_types import (
    BASE_TYPES,
    INT,
    SHOWN_AS_INT,
    TENSOR,
    SchemaType,
    TypeKind,
    TypeProblem,
    dict_of,
    list_of,
    optional_of,
    tuple_of,
    union_of,
    wrapper_of,
)

_T = TypeVar("_T")

_WRAPPERS = {"Future": TypeKind.FUTURE, "Await": TypeKind.AWAIT, "RRef": TypeKind.RREF}
_TYPE_WORDS = (*BASE_TYPES, "Tensor", "Dict", "Union", *_WRAPPERS)
_SPECIAL_WORDS = frozenset({"Tensor", "Dict", "Union", "__torch__", *_WRAPPERS})
_OTHER_WORDS = {"double": "float", "int64_t": "int", "Dimname": "str", "number": "Scalar", "SymFloat": "float"}

_NONE_ONLY = frozenset({TypeKind.TENSOR, TypeKind.GENERATOR, TypeKind.QUANTIZER})
_SINGLE = frozenset(
    {
        TypeKind.STRING,
        TypeKind.OPTIONAL,
        TypeKind.NUMBER,
        TypeKind.INT,
        TypeKind.BOOL,
        TypeKind.FLOAT,
        TypeKind.COMPLEX,
    }
)
_LIST_ELEMENTS = {TypeKind.INT: int, TypeKind.FLOAT: float, TypeKind.COMPLEX: complex, TypeKind.BOOL: bool}

_Types = tuple[SchemaType, SchemaType, AliasInfo | None]
"""A type as TorchScript sees it, the real type, and the alias annotation."""


@lru_cache(maxsize=16384)
def parse_schema(text: str, *, allow_typevars: bool = True) -> FunctionSchema:
    """Read a schema such as ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    allow_typevars: take unknown lower-case words for type variables, as ``torch._C.parse_schema`` does. ``m.def``
    takes them in the namespaces aten and prim only: pass False for that. Raises SchemaError.
    """
    _check_text(text)
    parser = _Parser(text, allow_typevars or text.startswith(("aten::", "prim::")))
    name = parser.operator_name()
    if parser.token != "(":
        parser.only_name_found()
    return parser.finish(parser.schema(name))


@lru_cache(maxsize=16384)
def parse_signature(text: str) -> FunctionSchema:
    """Read a signature as dumps show it: ``(Tensor _0, Scalar _1) -> Tensor _0``. Its name is empty.

    Types inside tuples and the like are the real ones, unlike in a schema. Raises SchemaError.
    """
    _check_text(text)
    parser = _Parser(text, True, real_inside=True)
    return parser.finish(parser.schema(OperatorName("")))


@lru_cache(maxsize=16384)
def parse_operator_name(text: str) -> OperatorName:
    """Read ``ns::name.overload``, as ``torch::jit::parseName`` does; namespace and overload may be missing.

    Raises SchemaError.
    """
    _check_text(text)
    parser = _Parser(text, False)
    name = parser.operator_name()
    if parser.token == "(":
        parser.fail("expected an operator name alone but found a schema")
    return parser.finish(name)


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise SchemaError(f"the schema is longer than {MAX_LENGTH} characters", MAX_LENGTH)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError("the schema has a character that is not valid Unicode text", error.start) from None


def _shown(token: str) -> str:
    if token == END:
        return "the end"
    if token in (LINE_BREAK, INDENTATION):
        return "a line break"
    return f"'{shortened(token)}'"


def _is_name(token: str) -> bool:
    return token.isidentifier() and token.isascii() and token not in KEYWORDS


def _is_number(token: str) -> bool:
    return token.isascii() and (token[:1].isdigit() or (token[:1] == "." and token[1:2].isdigit()))


def _is_string(token: str) -> bool:
    return len(token) > 1 and token[0] in "\"'"


class _Parser:
    """One pass over the tokens; ``token`` is the current one."""

    def __init__(self, text: str, allow_typevars: bool, real_inside: bool = False) -> None:
        self._text = text
        self._allow_typevars = allow_typevars
        self._real_inside = real_inside
        self._tokens = tokenize(text)
        self._index = 0
        self._brackets = 0
        self._fresh_sets = 0
        self.token = self._tokens[0]

    # Moving along

    def fail(self, message: str, index: int | None = None, hint: str | None = None) -> NoReturn:
        """Refuse the text at the token with *index*, by default the current one."""
        raise SchemaError(message, offset_of(self._text, self._index if index is None else index), hint)

    def finish(self, result: _T) -> _T:
        """Check that nothing is left but one line break, and return *result*."""
        self._next_if(LINE_BREAK)
        if self.token != END:
            self.fail(f"expected the end but found {_shown(self.token)}")
        return result

    def only_name_found(self) -> NoReturn:
        """There was an operator name, but no arguments."""
        self._next_if(LINE_BREAK)
        self.fail(f"expected '(' but found {_shown(self.token)}")

    def _advance(self) -> str:
        token = self.token
        self._index += 1
        self.token = self._tokens[self._index]
        return token

    def _next_if(self, token: str) -> bool:
        if self.token != token:
            return False
        self._advance()
        return True

    def _expect(self, token: str) -> None:
        if self.token != token:
            self.fail(f"expected '{token}' but found {_shown(self.token)}")
        self._advance()

    def _name(self, what: str) -> str:
        if not _is_name(self.token):
            hint = f"{self.token} is a keyword; choose another name" if self.token in KEYWORDS else None
            self.fail(f"expected {what} but found {_shown(self.token)}", hint=hint)
        return self._advance()

    def _number(self, what: str = "a number") -> str:
        if not _is_number(self.token):
            self.fail(f"expected {what} but found {_shown(self.token)}")
        return self._advance()

    def _bracketed(self, item: Callable[[], None]) -> None:
        """``(item, item)``, or nothing inside."""
        self._expect("(")
        self._brackets += 1
        if self._brackets > MAX_DEPTH:
            self.fail(f"brackets are nested more than {MAX_DEPTH} deep", self._index - 1)
        if self.token != ")":
            item()
            while self._next_if(","):
                item()
        self._expect(")")
        self._brackets -= 1

    # Names, arguments, returns

    def operator_name(self) -> OperatorName:
        """``ns::name.overload``."""
        name = self._name("an operator name")
        if self._next_if(":"):
            self._expect(":")
            name = f"{name}::{self._name('an operator name')}"
        overload = ""
        if self._next_if("."):
            overload = self._name("an overload name")
            # torch.ops uses these itself: default for the overload without a name, __ for attributes.
            if overload == "default" or overload.startswith("__"):
                self.fail(f"'{shortened(overload)}' is not a legal overload name", self._index - 1)
        return OperatorName(name, overload)

    def schema(self, name: OperatorName) -> FunctionSchema:
        """Arguments, arrow, returns."""
        arguments, is_vararg = self._arguments()
        self._expect("->")
        if self._next_if("..."):
            return FunctionSchema(name, arguments, (), is_vararg, True)
        if self.token != "(":
            return FunctionSchema(name, arguments, (self._return(),), is_vararg)
        returns, is_varret = self._returns()
        return FunctionSchema(name, arguments, returns, is_vararg, is_varret)

    def _arguments(self) -> tuple[tuple[Argument, ...], bool]:
        found: list[Argument] = []
        kwarg_only = is_vararg = has_default = False

        def item() -> None:
            nonlocal kwarg_only, is_vararg, has_default
            if is_vararg:
                self.fail("'...' must be the last of the arguments")
            if self._next_if("*"):
                kwarg_only = True
            elif self._next_if("..."):
                is_vararg = True
            else:
                start = self._index
                found.append(self._argument(kwarg_only))
                self._check_order(found[-1], has_default, start)
                has_default = has_default or found[-1].default is not None

        self._bracketed(item)
        if is_vararg and has_default:
            self.fail("a schema with '...' cannot have default values", self._index - 1)
        return tuple(found), is_vararg

    def _check_order(self, argument: Argument, has_default: bool, start: int) -> None:
        """A positional argument needs a default when one before it has one; lists are let off, for old schemas."""
        excused = argument.default is not None or argument.kwarg_only or argument.type.kind is TypeKind.LIST
        if has_default and not excused:
            self.fail(f"'{shortened(argument.name)}' has no default, but an argument before it has one", start)

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        found: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                self.fail("'...' must be the last of the returns")
            if self._next_if("..."):
                is_varret = True
            else:
                found.append(self._return())

        self._bracketed(item)
        return tuple(found), is_varret

    def _argument(self, kwarg_only: bool) -> Argument:
        seen, real, alias, size = self._sized_type()
        name = self._name("an argument name")
        default = None
        if self._next_if("="):
            start = self._index
            try:
                default = Default(self._default(seen, size))
            except ValueError as problem:
                if isinstance(problem, SchemaError):
                    raise
                self.fail(str(problem), start)
        return Argument(name, seen, real, size, default, kwarg_only, alias)

    def _return(self) -> Argument:
        seen, real, alias, size = self._sized_type()
        return Argument(self._advance() if _is_name(self.token) else "", seen, real, size, None, False, alias)

    # Types

    def _sized_type(self) -> tuple[SchemaType, SchemaType, AliasInfo | None, int | None]:
        """A type, perhaps with one fixed-size list around it: only an argument as a whole can have a size."""
        start = self._index
        try:
            seen, real, alias = self._type()
            if not self._next_if("["):
                return seen, real, alias, None
            size = self._size()
            self._expect("]")
            alias = self._alias_of_list(alias)
            seen, real = _both(list_of, seen, real)
            if self._next_if("?"):
                seen, real = _both(optional_of, seen, real)
        except TypeProblem as problem:
            self.fail(str(problem), start)
        return seen, real, alias, size

    def _size(self) -> int:
        try:
            size = read_integer(self._number())
        except SchemaError:
            raise
        except ValueError as problem:
            self.fail(str(problem), self._index - 1)
        return (size + 2**31) % 2**32 - 2**31  # PyTorch keeps 32 bits of it

    def _type(self) -> _Types:
        start = self._index
        try:
            seen, real, alias = self._plain_type()
            while True:
                if self.token == "[" and self._tokens[self._index + 1] == "]":
                    self._advance()
                    self._advance()
                    seen, real = _both(list_of, seen, real)
                    alias = self._alias_of_list(alias)
                elif self._next_if("?"):
                    seen, real = _both(optional_of, seen, real)
                else:
                    return seen, real, alias
        except TypeProblem as problem:
            self.fail(str(problem), start)

    def _inner_type(self) -> SchemaType:
        """A type inside another one; PyTorch drops its real type and its annotation."""
        seen, real, _ = self._type()
        return real if self._real_inside else seen

    def _plain_type(self) -> _Types:
        """A type without what may follow it (lists, optionals)."""
        word = self.token
        if word == "(":
            return _alike(tuple_of(self._inner_types()), None)
        if word not in _SPECIAL_WORDS:
            real = self._base_type()
            return INT if real.kind in SHOWN_AS_INT else real, real, self._alias()
        self._advance()
        if word == "Tensor":
            return TENSOR, TENSOR, self._alias()
        if word == "Dict":
            return _alike(self._dict(), self._alias())
        if word == "Union":
            members = self._inner_types()
            if not members:
                self.fail("expected a type but found ')'", self._index - 1)
            return _alike(union_of(members), self._alias())
        if word == "__torch__":
            return _alike(self._custom_class(), None)
        return _alike(self._wrapped(word), None)

    def _inner_types(self) -> tuple[SchemaType, ...]:
        types: list[SchemaType] = []
        self._bracketed(lambda: types.append(self._inner_type()))
        return tuple(types)

    def _counted(self, what: str, count: int) -> tuple[SchemaType, ...]:
        start = self._index
        types = self._inner_types()
        if len(types) != count:
            self.fail(f"{what} holds {count} {'type' if count == 1 else 'types'}, not {len(types)}", start)
        return types

    def _dict(self) -> SchemaType:
        key, value = self._counted("Dict", 2)
        return dict_of(key, value)

    def _wrapped(self, word: str) -> SchemaType:
        (element,) = self._counted(word, 1)
        return wrapper_of(_WRAPPERS[word], word, element)

    def _custom_class(self) -> SchemaType:
        for part in ("torch", "classes"):
            self._expect(".")
            self._expect(part)
        self._expect(".")
        namespace = self._name("the namespace of a class")
        self._expect(".")
        name = self._name("the name of a class")
        return SchemaType(TypeKind.CLASS, f"__torch__.torch.classes.{namespace}.{name}")

    def _base_type(self) -> SchemaType:
        start = self._index
        word = self._advance() if self.token in ("None", "NoneType") else self._name("a type")
        while self.token == "." and _is_name(self._tokens[self._index + 1]):
            self._advance()
            word = f"{word}.{self._advance()}"
        found = BASE_TYPES.get(word)
        if found is None:
            if not self._allow_typevars or not word[0].islower():
                self.fail(f"'{shortened(word)}' is not a type", start, _type_hint(word))
            found = SchemaType(TypeKind.VARIABLE, word)
        return found

    # Alias annotations

    def _alias(self) -> AliasInfo | None:
        if self._next_if("("):
            return self._alias_sets()
        if not self._next_if("!"):
            return None
        self._fresh_sets += 1
        return AliasInfo((f"${self._fresh_sets - 1}",), (), True)

    def _alias_sets(self) -> AliasInfo:
        before = self._alias_set()
        write = self._next_if("!")
        after = self._alias_set() if self._next_if("->") else before
        self._expect(")")
        return AliasInfo(before, after, write)

    def _alias_set(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        while True:
            if self._next_if("*"):
                names["*"] = None
            elif "*" not in names:  # PyTorch reads nothing more behind the wildcard
                names[self._name("an alias set")] = None
            if not self._next_if("|"):
                return tuple(names)

    def _alias_of_list(self, element: AliasInfo | None) -> AliasInfo | None:
        """The annotation behind ``[]``, with that of the element inside it."""
        own = self._alias()
        if element is None:
            return own
        if own is None:
            return AliasInfo(write=element.write, contained=(element,))
        return AliasInfo(own.before, own.after, own.write, (element,))

    # Default values; a ValueError becomes an error at the value's start

    def _default(self, expected: SchemaType, size: int | None) -> Constant | tuple[Constant, ...]:
        kind = expected.kind
        if kind in _SINGLE:
            return self._constant(kind)
        if kind is TypeKind.LIST:
            return self._list_default(expected.contained[0].kind, size)
        if kind is TypeKind.DEVICE:
            if not _is_string(self.token):
                self.fail(f"expected a string but found {_shown(self.token)}")
            return read_device(read_string(self._advance()))
        if kind not in _NONE_ONLY:
            self.fail(f"an argument of type {shortened(expected.text)} cannot have a default")
        self._expect("None")
        return None

    def _list_default(self, kind: TypeKind, size: int | None) -> tuple[Constant, ...]:
        if size is None or self.token == "[" or _is_name(self.token):
            return self._convert(self._constant_list(kind), kind)
        value = self._constant(kind)
        if not 0 <= size <= MAX_BROADCAST:
            raise ValueError(f"a default cannot stand for a list of {size} values")
        return self._convert([value] * size, kind)

    def _constant_list(self, kind: TypeKind) -> list[Constant]:
        self._expect("[")
        values: list[Constant] = []
        if self.token != "]":
            values.append(self._constant(kind))
            while self._next_if(","):
                values.append(self._constant(kind))
        self._expect("]")
        return values

    def _convert(self, values: list[Constant], kind: TypeKind) -> tuple[Constant, ...]:
        element = _LIST_ELEMENTS.get(kind)
        if element is None:
            raise ValueError("only lists of int, float, complex and bool can have a default")
        for value in values:
            if type(value) is not element:
                raise ValueError(f"a list of {element.__name__} cannot hold {shortened(repr(value))}")
        return tuple(values)

    def _constant(self, kind: TypeKind) -> Constant:
        token = self.token
        if token in ("True", "False"):
            return self._advance() == "True"
        if token == "None":
            self._advance()
            return None
        if _is_string(token):
            return read_string(self._advance())
        if _is_name(token):
            if token not in NAMED_CONSTANTS:
                self.fail(f"'{shortened(token)}' is not a default value", hint=_constant_hint(token))
            return NAMED_CONSTANTS[self._advance()]
        if token in ('"', "'"):
            self.fail("the string that starts here does not end")
        number = f"-{self._number()}" if self._next_if("-") else self._number("a default value")
        return read_number(number, as_float=kind is TypeKind.FLOAT, as_complex=kind is TypeKind.COMPLEX)


def _alike(both: SchemaType, alias: AliasInfo | None) -> _Types:
    return both, both, alias


def _both(
    make: Callable[[SchemaType], SchemaType], seen: SchemaType, real: SchemaType
) -> tuple[SchemaType, SchemaType]:
    made = make(seen)
    return made, made if seen is real else make(real)


def _type_hint(word: str) -> str | None:
    close = _OTHER_WORDS.get(word) or next(iter(get_close_matches(word, _TYPE_WORDS, n=1)), None)
    return f"did you mean {close}?" if close else None


def _constant_hint(word: str) -> str | None:
    close = get_close_matches(word, ("True", "False", "None", *NAMED_CONSTANTS), n=1)
    return f"did you mean {close[0]}?" if close else None
