"""Reading types and alias annotations, as PyTorch's schema_type_parser.cpp does."""

from __future__ import annotations

import re

from dispatch_cli.model.schema.cursor import Cursor, PartError, is_name, shortened
from dispatch_cli.model.schema.model import AliasInfo
from dispatch_cli.model.schema.types import (
    BASE_TYPES,
    PRINTED_TYPES,
    SchemaType,
    TypeKind,
    dict_of,
    list_of,
    optional_of,
    seen_by_torchscript,
    tuple_of,
)
from dispatch_cli.model.text.suggest import suggestion

_TYPE_WORDS = (*BASE_TYPES, "Dict")
_UNSUPPORTED = ("Union", "Future", "Await", "RRef")
_OTHER_WORDS = {"double": "float", "int64_t": "int", "Dimname": "str", "number": "Scalar", "SymFloat": "float"}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.\w+\.\w+")
_MAX_SIZE = 2**31 - 1


class TypeReader:
    """Reads types at the cursor.

    printed: the text is what PyTorch has printed, not what is written for it. There, types inside others are the real
    ones, and there is more than PyTorch reads: alias sets that are empty, or called ``$0``, or follow ``?``.
    """

    def __init__(self, cursor: Cursor, printed: bool) -> None:
        self._cursor = cursor
        self._printed = printed
        self._fresh_sets = 0

    def sized_type(self) -> tuple[SchemaType, AliasInfo | None, int | None]:
        """A type, perhaps with one fixed-size list around it: only an argument as a whole can have a size."""
        start = self._cursor.index
        try:
            real, alias = self._type()
            if not self._cursor.next_if("["):
                return real, alias, None
            size = self._size()
            self._cursor.expect("]")
            alias = self._alias_of_list(alias)
            real = list_of(real)
            if self._cursor.next_if("?"):
                real = optional_of(real)
        except PartError as problem:
            self._cursor.fail(str(problem), start)
        return real, alias, size

    def _size(self) -> int:
        text = self._cursor.number()
        if not text.isdecimal() or len(text) > len(str(_MAX_SIZE)) or int(text) > _MAX_SIZE:
            self._cursor.fail(f"'{shortened(text)}' is not the size of a list", self._cursor.index - 1)
        return int(text)

    def _type(self) -> tuple[SchemaType, AliasInfo | None]:
        start = self._cursor.index
        try:
            real, alias = self._plain_type()
            while True:
                if self._cursor.token == "[" and self._cursor.following() == "]":
                    self._cursor.advance()
                    self._cursor.advance()
                    real = list_of(real)
                    alias = self._alias_of_list(alias)
                elif self._cursor.next_if("?"):
                    real = optional_of(real)
                    alias = self._alias() or alias if self._printed else alias
                else:
                    return real, alias
        except PartError as problem:
            self._cursor.fail(str(problem), start)

    def _inner_type(self) -> SchemaType:
        """A type inside another one; PyTorch drops its real type and its annotation."""
        real, _ = self._type()
        return real if self._printed else seen_by_torchscript(real)

    def _plain_type(self) -> tuple[SchemaType, AliasInfo | None]:
        """A type without what may follow it (lists, optionals)."""
        word = self._cursor.token
        if word == "(":
            return tuple_of(self._inner_types()), self._printed_alias()
        if word in _UNSUPPORTED:
            raise PartError(f"{word} types are not supported: no operator has one")
        if word == "__torch__":
            return self._base_type(), self._printed_alias()
        if self._cursor.next_if("Dict"):
            return dict_of(*self._pair()), self._alias()
        return self._base_type(), self._alias()

    def _printed_alias(self) -> AliasInfo | None:
        """The annotation of a type that PyTorch reads without one: it prints that of what is around it there."""
        return self._alias() if self._printed else None

    def _inner_types(self) -> tuple[SchemaType, ...]:
        types: list[SchemaType] = []
        self._cursor.bracketed(lambda: types.append(self._inner_type()))
        return tuple(types)

    def _pair(self) -> tuple[SchemaType, SchemaType]:
        types = self._inner_types()
        if len(types) != 2:
            self._cursor.fail(f"Dict holds 2 types, not {len(types)}", self._cursor.index - 1)
        return types[0], types[1]

    def _base_type(self) -> SchemaType:
        start = self._cursor.index
        word = self._cursor.advance() if self._cursor.token in ("None", "NoneType") else self._cursor.name("a type")
        while self._cursor.token == "." and is_name(self._cursor.following()):
            self._cursor.advance()
            word = f"{word}.{self._cursor.advance()}"
        if _CUSTOM_CLASS.fullmatch(word):
            return SchemaType(TypeKind.OTHER, word)
        base_type = BASE_TYPES.get(word) or (PRINTED_TYPES.get(word) if self._printed else None)
        if base_type is None:
            meant = _OTHER_WORDS.get(word)
            hint = f"did you mean {meant}?" if meant else suggestion(word, _TYPE_WORDS)
            self._cursor.fail(f"'{shortened(word)}' is not a type", start, hint)
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
            else:
                is_fresh = self._printed and self._cursor.next_if("$")
                names[f"${self._cursor.number()}" if is_fresh else self._cursor.name("an alias set")] = None
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
