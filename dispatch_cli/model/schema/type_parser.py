"""Reading types and alias annotations, as PyTorch's schema_type_parser.cpp does."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.model.schema.constants import NotAConstant, read_integer
from dispatch_cli.model.schema.cursor import Cursor
from dispatch_cli.model.schema.error import shortened
from dispatch_cli.model.schema.lexer import is_name
from dispatch_cli.model.schema.model import AliasInfo
from dispatch_cli.model.schema.refusal import expected, pointed
from dispatch_cli.model.schema.types import (
    BASE_TYPES,
    INT,
    PRINTED_TYPES,
    SHOWN_AS_INT,
    TENSOR,
    SchemaType,
    TypeKind,
    TypeProblem,
    custom_class,
    dict_of,
    list_of,
    optional_of,
    tuple_of,
    wrapper_of,
)
from dispatch_cli.model.suggest import suggestion

_WRAPPERS = {"Future": TypeKind.FUTURE, "Await": TypeKind.AWAIT, "RRef": TypeKind.RREF}
_TYPE_WORDS = (*BASE_TYPES, "Tensor", "Dict", *_WRAPPERS)
_SPECIAL_WORDS = frozenset({"Tensor", "Dict", "Union", "__torch__", *_WRAPPERS})
_OTHER_WORDS = {"double": "float", "int64_t": "int", "Dimname": "str", "number": "Scalar", "SymFloat": "float"}
_UNKNOWN_TYPE = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)
_NO_TYPE = {
    "double": (
        "Use `float` instead of `double` in an operator's schema string. `float` in schema corresponds to the double "
        "type in C++"
    ),
    "int64_t": (
        "Use `SymInt` or `int` instead of `int64_t` in an operator's schema string. `SymInt` corresponds to "
        "c10::SymInt in C++ while `int` in schema corresponds to the int64_t type in C++."
    ),
}

_Types = tuple[SchemaType, SchemaType, AliasInfo | None]
"""A type as TorchScript sees it, the real type, and the alias annotation."""


class TypeReader:
    """Reads types at the cursor.

    allow_typevars: unknown lower-case words are type variables. printed: the text is what PyTorch has printed, not what
    is written for it. There, types inside others are the real ones, and there is more than PyTorch reads: alias sets
    that are empty, or called ``$0``, or follow ``?``.
    """

    def __init__(self, cursor: Cursor, allow_typevars: bool, printed: bool) -> None:
        self._cursor = cursor
        self._allow_typevars = allow_typevars
        self._printed = printed
        self._fresh_sets = 0

    def sized_type(self) -> tuple[SchemaType, SchemaType, AliasInfo | None, int | None]:
        """A type, perhaps with one fixed-size list around it: only an argument as a whole can have a size."""
        start = self._cursor.index
        try:
            seen, real, alias = self._type()
            if not self._cursor.next_if("["):
                return seen, real, alias, None
            size = self._size()
            self._cursor.expect("]")
            alias = self._alias_of_list(alias)
            seen, real = _both(list_of, seen, real)
            if self._cursor.next_if("?"):
                seen, real = _both(optional_of, seen, real)
        except TypeProblem as problem:
            self._cursor.fail(problem.message, problem.theirs, start)
        return seen, real, alias, size

    def _size(self) -> int:
        # PyTorch prints the 32 bits that it keeps as a number with a sign, which it does not read.
        sign = "-" if self._printed and self._cursor.next_if("-") else ""
        try:
            size = read_integer(sign + self._cursor.number())
        except NotAConstant as problem:
            self._cursor.fail(problem.message, problem.theirs, self._cursor.index - 1)
        return (size + 2**31) % 2**32 - 2**31  # PyTorch keeps 32 bits of it

    def _type(self) -> _Types:
        start = self._cursor.index
        try:
            seen, real, alias = self._plain_type()
            while True:
                if self._cursor.token == "[" and self._cursor.following() == "]":
                    self._cursor.advance()
                    self._cursor.advance()
                    seen, real = _both(list_of, seen, real)
                    alias = self._alias_of_list(alias)
                elif self._cursor.next_if("?"):
                    seen, real = _both(optional_of, seen, real)
                    alias = self._alias() or alias if self._printed else alias
                else:
                    return seen, real, alias
        except TypeProblem as problem:
            self._cursor.fail(problem.message, problem.theirs, start)

    def _inner_type(self) -> SchemaType:
        """A type inside another one; PyTorch drops its real type and its annotation."""
        seen, real, _ = self._type()
        return real if self._printed else seen

    def _plain_type(self) -> _Types:
        """A type without what may follow it (lists, optionals)."""
        word = self._cursor.token
        if word == "(":
            members = self._inner_types()
            return _alike(tuple_of(members), self._printed_alias())
        if word not in _SPECIAL_WORDS:
            real = self._base_type()
            return INT if real.kind in SHOWN_AS_INT else real, real, self._alias()
        self._cursor.advance()
        if word == "Tensor":
            return TENSOR, TENSOR, self._alias()
        if word == "Dict":
            key, value = self._pair()
            alias = self._alias()
            return _alike(dict_of(key, value), alias)
        if word == "Union":
            raise TypeProblem("Union types are not supported: no operator has one", None)
        if word == "__torch__":
            return _alike(self._custom_class(), self._printed_alias())
        return _alike(self._wrapped(word), self._printed_alias())

    def _printed_alias(self) -> AliasInfo | None:
        """The annotation of a type that PyTorch reads without one: it prints that of what is around it there."""
        return self._alias() if self._printed else None

    def _inner_types(self) -> tuple[SchemaType, ...]:
        types: list[SchemaType] = []
        self._cursor.bracketed(lambda: types.append(self._inner_type()))
        return tuple(types)

    def _pair(self) -> tuple[SchemaType, SchemaType]:
        self._cursor.open_bracket()
        key = self._inner_type()
        if self._cursor.token == ")":
            self._cursor.fail("Dict holds 2 types, not 1", expected(","))
        self._cursor.expect(",")
        value = self._inner_type()
        self._close("Dict holds only 2 types")
        return key, value

    def _wrapped(self, word: str) -> SchemaType:
        self._cursor.open_bracket()
        element = self._inner_type()
        self._close(f"{word} holds only 1 type")
        return wrapper_of(_WRAPPERS[word], word, element)

    def _close(self, too_many: str) -> None:
        if self._cursor.token == ",":
            self._cursor.fail(too_many, expected(")"))
        self._cursor.close_bracket()

    def _custom_class(self) -> SchemaType:
        for part in ("torch", "classes"):
            self._cursor.expect(".")
            at = self._cursor.index
            word = self._cursor.name(f"'{part}'")
            if word != part:
                words = pointed(f"Expected classes namespace but got {word}", at)
                self._cursor.fail(f"expected '{part}' but found '{shortened(word)}'", words, at)
        self._cursor.expect(".")
        namespace = self._cursor.name("the namespace of a class")
        self._cursor.expect(".")
        name = self._cursor.name("the name of a class")
        return custom_class(f"__torch__.torch.classes.{namespace}.{name}")

    def _base_type(self) -> SchemaType:
        start = self._cursor.index
        word = self._cursor.advance() if self._cursor.token in ("None", "NoneType") else self._cursor.name("a type")
        while self._cursor.token == "." and is_name(self._cursor.following()):
            self._cursor.advance()
            word = f"{word}.{self._cursor.advance()}"
        base_type = BASE_TYPES.get(word) or (PRINTED_TYPES.get(word) if self._printed else None)
        if base_type is None:
            if not self._allow_typevars or not word[0].islower():
                words = pointed(_NO_TYPE.get(word, _UNKNOWN_TYPE), start)
                self._cursor.fail(f"'{shortened(word)}' is not a type", words, start, _type_hint(word))
            base_type = SchemaType(TypeKind.VARIABLE, word)
        return base_type

    def _alias(self) -> AliasInfo | None:
        if self._cursor.next_if("("):
            return self._alias_sets()
        if not self._cursor.next_if("!"):
            return None
        self._fresh_sets += 1
        return AliasInfo((f"${self._fresh_sets - 1}",), (), True)

    def _alias_sets(self) -> AliasInfo:
        before = self._alias_set()
        write = self._cursor.next_if("!")
        after = self._alias_set() if self._cursor.next_if("->") else before
        self._cursor.expect(")")
        return AliasInfo(before, after, write)

    def _alias_set(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        if self._printed and self._cursor.token in ("!", "->", ")"):
            return ()
        while True:
            if self._cursor.next_if("*"):
                names["*"] = None
            elif self._printed:
                is_fresh = self._cursor.next_if("$")
                names[f"${self._cursor.number()}" if is_fresh else self._cursor.name("an alias set")] = None
            elif "*" not in names:  # PyTorch reads nothing more behind the wildcard
                names[self._cursor.name("an alias set")] = None
            if not self._cursor.next_if("|"):
                return tuple(names)

    def _alias_of_list(self, element: AliasInfo | None) -> AliasInfo | None:
        """The annotation behind ``[]``, with that of the element inside it."""
        own = self._alias()
        if element is None:
            return own
        if own is None:
            return AliasInfo(write=element.write, contained=(element,))
        return AliasInfo(own.before, own.after, own.write, (element,))


def _alike(both: SchemaType, alias: AliasInfo | None) -> _Types:
    return both, both, alias


def _both(
    make: Callable[[SchemaType], SchemaType], seen: SchemaType, real: SchemaType
) -> tuple[SchemaType, SchemaType]:
    seen_type = make(seen)
    return seen_type, seen_type if seen is real else make(real)


def _type_hint(word: str) -> str | None:
    meant = _OTHER_WORDS.get(word)
    return f"did you mean {meant}?" if meant else suggestion(word, _TYPE_WORDS)
