"""Schemas as torchgen sees them: what decides which functions belong together. Source: ``torchgen/model.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

_OPERATORS = ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
_AUGMENTED = frozenset(f"i{name}" for name in _OPERATORS)
_ELEMENT = re.compile(r"[?\[]")
_OPTIONS = (
    ("dtype", frozenset({"ScalarType", "ScalarType?"})),
    ("layout", frozenset({"Layout", "Layout?"})),
    ("device", frozenset({"Device", "Device?"})),
    ("pin_memory", frozenset({"bool", "bool?"})),
)
_DECLARATION = re.compile(r"([^(\s]+)\((.*)\) -> (.*)")
_PIECE = re.compile(
    r"(Tensor(?:\(([^()]*)\))?|(?:__torch__\.torch\.classes\.)?[A-Za-z_][\w.]*)((?:\?|\[[0-9]*\])*)"
    r"(?: ([A-Za-z_]\w*)(?:=(.+))?)?"
)
_ALIAS = re.compile(r"[a-z](?:\|[a-z])*!?(?: -> (?:\*|[a-z](?:\|[a-z])*))?")


class NativeName(NamedTuple):
    """The name of an operator in parts (``OperatorName``). dunder: it is written ``__base__``."""

    base: str
    inplace: bool = False
    dunder: bool = False
    functional: bool = False
    overload: str = ""

    @property
    def full_base(self) -> str:
        """Without the overload."""
        if self.dunder:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        return self.base + ("_" if self.inplace else "_functional" if self.functional else "")

    def __str__(self) -> str:
        return f"{self.full_base}.{self.overload}" if self.overload else self.full_base


def parse_native_name(text: str) -> NativeName:
    """Errors: ValueError."""
    base, dot, overload = text.partition(".")
    if not base or (dot and not overload):
        raise ValueError(f"{text!r} is not the name of an operator")
    if base.endswith("_out"):
        raise ValueError("a name that ends with _out is not allowed; is an overload name meant?")
    if base.startswith("__") and base.endswith("__") and len(base) > 4 and "_" not in base[2:-2]:
        inner = base[2:-2]
        if inner in _AUGMENTED:
            return NativeName(inner[1:], True, True, False, overload)
        if inner[0] == "i":
            raise ValueError(f"a method __i…__ that PyTorch does not have: {base}")
        return NativeName(inner, False, True, False, overload)
    inplace = base.endswith("_")
    plain = base.removesuffix("_") if inplace else base
    if plain.endswith("_functional"):
        if inplace:
            raise ValueError(f"a functional form cannot be in-place: {base}")
        return NativeName(plain.removesuffix("_functional"), False, False, True, overload)
    return NativeName(plain, inplace, False, False, overload)


class SchemaKind(Enum):
    """Kinds of functions, by what they do with their arguments (``SchemaKind``)."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"
    MUTABLE = "mutable"
    SCRATCH = "scratch"


class NativeArgument(NamedTuple):
    """An argument or a return. type: without the alias annotation, which is *alias*, such as ``a! -> *``."""

    type: str
    name: str | None
    default: str | None
    alias: str | None

    @property
    def is_write(self) -> bool:
        return self.alias is not None and "!" in self.alias

    @property
    def is_tensor(self) -> bool:
        """True if it is a tensor, or a list of them (``is_tensor_like``)."""
        return _ELEMENT.split(self.type, maxsplit=1)[0] == "Tensor"

    def __str__(self) -> str:
        written = self.type if self.alias is None else self.type.replace("Tensor", f"Tensor({self.alias})", 1)
        if self.name is None:
            return written
        return f"{written} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(eq=False)
class NativeSchema:
    """A schema of ``native_functions.yaml``, without namespace (``FunctionSchema``).

    positional, keyword, out: the arguments, in order; *out* are the mutable ones among those that are given by name.
    text: as it was read.
    """

    name: NativeName
    positional: Sequence[NativeArgument]
    keyword: Sequence[NativeArgument]
    out: Sequence[NativeArgument]
    returns: Sequence[NativeArgument]
    text: str | None = None

    @cached_property
    def self_index(self) -> int:
        """Index of ``self`` among the positional arguments; -1 if it is none of them."""
        return next((index for index, argument in enumerate(self.positional) if argument.name == "self"), -1)

    def __str__(self) -> str:
        if self.text is None:
            pieces = [str(argument) for argument in self.positional]
            if self.keyword or self.out:
                pieces += ["*", *map(str, self.keyword), *map(str, self.out)]
            returns = ", ".join(map(str, self.returns))
            returned = returns if len(self.returns) == 1 else f"({returns})"
            self.text = f"{self.name}({', '.join(pieces)}) -> {returned}"
        return self.text

    @property
    def options_index(self) -> int:
        """Index of the first argument of ``TensorOptions`` among those given by name; -1 if there is none."""
        keyword = self.keyword
        for index in range(len(keyword) - 3):
            if keyword[index].name == "dtype" and all(
                keyword[index + i].name == name and keyword[index + i].type in types
                for i, (name, types) in enumerate(_OPTIONS)
            ):
                return index
        return -1

    @cached_property
    def kind(self) -> SchemaKind:
        """As ``FunctionSchema.kind``."""
        if self.name.inplace:
            return SchemaKind.INPLACE
        if self.out:
            scratch = any((argument.name or "").startswith("_scratch_") for argument in self.out)
            return SchemaKind.SCRATCH if scratch else SchemaKind.OUT
        for argument in self.positional[self.self_index + 1 :]:
            if argument.alias is not None and "!" in argument.alias:
                return SchemaKind.MUTABLE
        return SchemaKind.FUNCTIONAL

    @property
    def cpp_name(self) -> str:
        """The name of the C++ function (``torchgen.api.cpp.name``)."""
        return self.name.full_base + ("_out" if self.out else "")

    @property
    def arguments(self) -> Iterable[NativeArgument]:
        return (*self.positional, *self.keyword, *self.out)

    @cached_property
    def signature(self) -> str:
        """Text that is equal for all forms of one function (``FunctionSchema.signature``)."""
        return self._signature(self.name.base, True)

    @cached_property
    def signature_without_defaults(self) -> str:
        """The signature without defaults of arguments."""
        return self._signature(self.name.base, False)

    @property
    def view_signature(self) -> str:
        """Text that is equal for a view, its in-place form and its copy (``FunctionSchema.view_signature``)."""
        base = self.name.base
        if base.endswith("_copy"):
            return self._signature(base.replace("_copy", ""), True)
        if base.endswith("_scatter"):
            return self._signature(base.replace("scatter", "inverse"), True)
        return self.signature

    def _signature(self, base: str, defaults: bool) -> str:
        positional = [_plain(argument, defaults) for argument in self.positional]
        keyword = [_plain(argument, defaults) for argument in self.without_options()]
        if self.name.base == "bernoulli" and self.name.overload == "p":
            positional = ["float p=0.5" if text.startswith("float p") else text for text in positional]
        returns = [argument.type for argument in self.returns] + [argument.type for argument in self.written()]
        dunder = "__" if self.name.dunder else ""
        return f"{dunder}{base}({', '.join(positional)}|{', '.join(keyword)}){', '.join(returns)}"

    def without_options(self) -> Sequence[NativeArgument]:
        """The arguments that are given by name, without those of ``TensorOptions``."""
        index = self.options_index
        return self.keyword if index < 0 else [*self.keyword[:index], *self.keyword[index + 4 :]]

    def written(self) -> list[NativeArgument]:
        """The arguments that are written and not returned: in the functional form they are returns."""
        if not self.out and not any(argument.is_write for argument in self.positional):
            return []
        returned = {result.alias for result in self.returns}
        index = self.self_index
        own = self.positional[index : index + 1] if index >= 0 else ()
        return [
            argument
            for argument in (*own, *self.out, *self.positional[index + 1 :])
            if argument.is_write and argument.alias not in returned
        ]


def _plain(argument: NativeArgument, defaults: bool) -> str:
    if defaults and argument.default is not None:
        return f"{argument.type} {argument.name}={argument.default}"
    return f"{argument.type} {argument.name}"


class SchemaReader:
    """Reads schemas. The same arguments occur again and again, so that each is read once."""

    def __init__(self) -> None:
        self._known: dict[str, NativeArgument] = {}

    def read(self, text: str) -> NativeSchema:
        """Errors: ValueError, with what is wrong."""
        match = _DECLARATION.fullmatch(text)
        if match is None:
            raise ValueError("this is not of the form name(arguments) -> returns")
        name = parse_native_name(match[1])
        positional, keyword, out = self._arguments(match[2])
        returned = match[3]
        if returned[:1] == "(" and returned[-1:] == ")":
            returned = returned[1:-1]
        returns = [self._piece(piece, False) for piece in returned.split(", ")] if returned else []
        schema = NativeSchema(name, positional, keyword, out, returns, text)
        _check(schema)
        return schema

    def _arguments(self, text: str) -> tuple[list[NativeArgument], list[NativeArgument], list[NativeArgument]]:
        positional: list[NativeArgument] = []
        keyword: list[NativeArgument] = []
        out: list[NativeArgument] = []
        into = positional
        known = self._known
        for piece in text.split(", "):
            if not piece:
                continue
            if piece == "*":
                if into is not positional:
                    raise ValueError("there is more than one '*' among the arguments")
                into = keyword
                continue
            argument = known.get(piece) or self._piece(piece, True)
            if argument.alias is not None and "!" in argument.alias:
                if into is keyword:
                    into = out
            elif into is out:
                raise ValueError(f"the argument {argument.name}, which is not written, follows those that are")
            into.append(argument)
        return positional, keyword, out

    def _piece(self, piece: str, named: bool) -> NativeArgument:
        match = _PIECE.fullmatch(piece)
        if match is None or (named and match[4] is None) or (not named and match[5] is not None):
            raise ValueError(f"the {'argument' if named else 'return'} {piece!r} cannot be read")
        plain, alias, suffix, name, default = match.groups()
        if alias is not None and (_ALIAS.fullmatch(alias) is None or suffix not in ("", "?", "[]")):
            raise ValueError(f"the alias annotation of {piece!r} cannot be read")
        argument = NativeArgument(("Tensor" if alias is not None else plain) + suffix, name, default, alias)
        if named:
            self._known[piece] = argument
        return argument


def _check(schema: NativeSchema) -> None:
    """Errors: ValueError where torchgen refuses the schema (``FunctionSchema.__post_init__``)."""
    if schema.out and schema.name.inplace:
        raise ValueError("a function cannot both be in-place and have out arguments")
    if schema.name.inplace:
        index = schema.self_index
        if index < 0 or not schema.positional[index].is_write:
            raise ValueError("an in-place function needs an argument self that it writes, such as Tensor(a!) self")
