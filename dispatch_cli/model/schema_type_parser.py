"""Reading types and alias annotations, as PyTorch's schema_type_parser.cpp does."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from dispatch_cli.model.schema_constants import read_integer
from dispatch_cli.model.schema_cursor import Cursor, is_name
from dispatch_cli.model.schema_error import SchemaError, shortened
from dispatch_cli.model.schema_model import AliasInfo
from dispatch_cli.model.schema_types import (
    BASE_TYPES,
    INT,
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
    union_of,
    wrapper_of,
)

_WRAPPERS = {"Future": TypeKind.FUTURE, "Await": TypeKind.AWAIT, "RRef": TypeKind.RREF}
_TYPE_WORDS = (*BASE_TYPES, "Tensor", "Dict", "Union", *_WRAPPERS)
_SPECIAL_WORDS = frozenset({"Tensor", "Dict", "Union", "__torch__", *_WRAPPERS})
_OTHER_WORDS = {"double": "float", "int64_t": "int", "Dimname": "str", "number": "Scalar", "SymFloat": "float"}

_Types = tuple[SchemaType, SchemaType, AliasInfo | None]
"""A type as TorchScript sees it, the real type, and the alias annotation."""


class TypeReader:
    """Reads types at the cursor.

    allow_typevars: unknown lower-case words are type variables. real_inside: types inside others keep their real type.
    """

    def __init__(self, cursor: Cursor, allow_typevars: bool, real_inside: bool) -> None:
        self._cursor = cursor
        self._allow_typevars = allow_typevars
        self._real_inside = real_inside
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
            self._cursor.fail(str(problem), start)
        return seen, real, alias, size

    def _size(self) -> int:
        try:
            size = read_integer(self._cursor.number())
        except SchemaError:
            raise
        except ValueError as problem:
            self._cursor.fail(str(problem), self._cursor.index - 1)
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
                else:
                    return seen, real, alias
        except TypeProblem as problem:
            self._cursor.fail(str(problem), start)

    def _inner_type(self) -> SchemaType:
        """A type inside another one; PyTorch drops its real type and its annotation."""
        seen, real, _ = self._type()
        return real if self._real_inside else seen

    def _plain_type(self) -> _Types:
        """A type without what may follow it (lists, optionals)."""
        word = self._cursor.token
        if word == "(":
            return _alike(tuple_of(self._inner_types()), None)
        if word not in _SPECIAL_WORDS:
            real = self._base_type()
            return INT if real.kind in SHOWN_AS_INT else real, real, self._alias()
        self._cursor.advance()
        if word == "Tensor":
            return TENSOR, TENSOR, self._alias()
        if word == "Dict":
            return _alike(self._dict(), self._alias())
        if word == "Union":
            members = self._inner_types()
            if not members:
                self._cursor.fail("expected a type but found ')'", self._cursor.index - 1)
            return _alike(union_of(members), self._alias())
        if word == "__torch__":
            return _alike(self._custom_class(), None)
        return _alike(self._wrapped(word), None)

    def _inner_types(self) -> tuple[SchemaType, ...]:
        types: list[SchemaType] = []
        self._cursor.bracketed(lambda: types.append(self._inner_type()))
        return tuple(types)

    def _counted(self, what: str, count: int) -> tuple[SchemaType, ...]:
        start = self._cursor.index
        types = self._inner_types()
        if len(types) != count:
            self._cursor.fail(f"{what} holds {count} {'type' if count == 1 else 'types'}, not {len(types)}", start)
        return types

    def _dict(self) -> SchemaType:
        key, value = self._counted("Dict", 2)
        return dict_of(key, value)

    def _wrapped(self, word: str) -> SchemaType:
        (element,) = self._counted(word, 1)
        return wrapper_of(_WRAPPERS[word], word, element)

    def _custom_class(self) -> SchemaType:
        for part in ("torch", "classes"):
            self._cursor.expect(".")
            self._cursor.expect(part)
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
        found = BASE_TYPES.get(word)
        if found is None:
            if not self._allow_typevars or not word[0].islower():
                self._cursor.fail(f"'{shortened(word)}' is not a type", start, _type_hint(word))
            found = SchemaType(TypeKind.VARIABLE, word)
        return found

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
        while True:
            if self._cursor.next_if("*"):
                names["*"] = None
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
    made = make(seen)
    return made, made if seen is real else make(real)


def _type_hint(word: str) -> str | None:
    close = _OTHER_WORDS.get(word) or next(iter(get_close_matches(word, _TYPE_WORDS, n=1)), None)
    return f"did you mean {close}?" if close else None
