"""Schemas as torchgen sees them: what decides which functions belong together. Source: ``torchgen/model.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import AliasInfo, Argument, FunctionSchema, writes
from dispatch_cli.model.schema.parser import parse_schema

ATEN = "aten"
_OPTIONS = ["dtype", "layout", "device", "pin_memory"]
"""The arguments that make a ``TensorOptions``, in their order."""
_NAME = re.compile(
    r"__(?P<own>i(?=(?:add|sub|mul|div|mod|pow|lshift|rshift|and|xor|or)__))?(?P<dunder>[a-z]+)__"
    r"|(?P<base>.+?)(?P<functional>_functional)?(?P<inplace>_)?"
)


class NativeName(NamedTuple):
    """The name of an operator in parts, without namespace and overload (``BaseOperatorName``)."""

    base: str
    inplace: bool = False
    dunder: bool = False
    functional: bool = False

    @classmethod
    def parse(cls, text: str) -> NativeName:
        """The parts of a name such as ``add_`` or ``__iand__``."""
        match = _NAME.fullmatch(text)
        if match is None:
            return cls(text)
        if match["dunder"]:
            return cls(match["dunder"], match["own"] is not None, dunder=True)
        return cls(match["base"], match["inplace"] is not None, False, match["functional"] is not None)

    def __str__(self) -> str:
        if self.dunder:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        return self.base + ("_" if self.inplace else "_functional" if self.functional else "")


class SchemaKind(Enum):
    """Kinds of functions, by what they do with their arguments (``SchemaKind``)."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"
    MUTABLE = "mutable"


def annotation(argument: Argument) -> AliasInfo | None:
    """The alias annotation of an argument or a return; of a list, that of its elements."""
    alias = argument.alias
    return alias.contained[0] if alias is not None and alias.contained else alias


def without_annotations(arguments: Iterable[Argument]) -> list[Argument]:
    """The arguments, none of which is written or returned."""
    return [argument if argument.alias is None else replace(argument, alias=None) for argument in arguments]


class NativeSchema:
    """A schema of ``native_functions.yaml`` (``FunctionSchema``).

    schema: with the namespace. text: of it, as it was read, or as PyTorch prints it.
    positional, keyword, out: the arguments, in order; *out* are the mutable ones among those that are given by name.
    """

    def __init__(self, schema: FunctionSchema, text: str | None = None) -> None:
        self.schema = schema
        self.text = text or str(schema)
        self.full_base = schema.name.name.partition("::")[2]
        self.overload = schema.name.overload
        self.name = NativeName.parse(self.full_base)
        keyword = [argument for argument in schema.arguments if argument.kwarg_only]
        self.positional = [argument for argument in schema.arguments if not argument.kwarg_only]
        self.keyword = [argument for argument in keyword if not writes(argument)]
        self.out = [argument for argument in keyword if writes(argument)]
        self.returns = schema.returns

    @cached_property
    def self_index(self) -> int:
        """Index of ``self`` among the positional arguments; -1 if it is none of them."""
        return next((index for index, argument in enumerate(self.positional) if argument.name == "self"), -1)

    @cached_property
    def options_index(self) -> int:
        """Index of the first argument of ``TensorOptions`` among those given by name; -1 if there is none."""
        names = [argument.name for argument in self.keyword]
        return next((index for index in range(len(names) - 3) if names[index : index + 4] == _OPTIONS), -1)

    @cached_property
    def kind(self) -> SchemaKind:
        """As ``FunctionSchema.kind``."""
        if self.name.inplace:
            return SchemaKind.INPLACE
        if self.out:
            return SchemaKind.OUT
        return SchemaKind.MUTABLE if any(map(writes, self.positional[self.self_index + 1 :])) else SchemaKind.FUNCTIONAL

    @property
    def cpp_name(self) -> str:
        """The name of the C++ function (``torchgen.api.cpp.name``)."""
        return self.full_base + ("_out" if self.out else "")

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
        positional, keyword = (_printed(those, defaults) for those in (self.positional, self.without_options()))
        if self.name.base == "bernoulli" and self.overload == "p":
            positional = ["float p=0.5" if text.startswith("float p") else text for text in positional]
        returns = [replace(it, name="", default=None, alias=None).printed() for it in (*self.returns, *self.written())]
        dunder = "__" if self.name.dunder else ""
        return f"{dunder}{base}({', '.join(positional)}|{', '.join(keyword)}){', '.join(returns)}"

    def without_options(self) -> Sequence[Argument]:
        """The arguments that are given by name, without those of ``TensorOptions``."""
        index = self.options_index
        return self.keyword if index < 0 else [*self.keyword[:index], *self.keyword[index + 4 :]]

    def written(self) -> list[Argument]:
        """The arguments that are written and not returned: in the functional form they are returns."""
        returned = {result.alias for result in self.returns}
        index = self.self_index
        own = self.positional[index : index + 1] if index >= 0 else ()
        those = (*own, *self.out, *self.positional[index + 1 :])
        return [argument for argument in those if writes(argument) and argument.alias not in returned]


def _printed(arguments: Iterable[Argument], defaults: bool) -> list[str]:
    bare = without_annotations(arguments)
    return [(argument if defaults else replace(argument, default=None)).printed() for argument in bare]


def read_schema(namespace: str, text: str) -> NativeSchema:
    """A schema that is written without its namespace. ``Dimname``, of named tensors, is another word for str.

    Errors: ValueError.
    """
    head, parenthesis, rest = text.partition("(")
    text = f"{namespace}::{head}{parenthesis}{rest.replace('Dimname', 'str')}"
    schema = NativeSchema(parse_schema(text), text)
    if schema.name.inplace and (schema.self_index < 0 or not writes(schema.positional[schema.self_index])):
        raise ValueError("an in-place function needs an argument self that it writes, such as Tensor(a!) self")
    return schema


def made_schema(
    origin: NativeSchema, name: NativeName, overload: str, arguments: Iterable[Argument], returns: Iterable[Argument]
) -> NativeSchema:
    """The schema of a function that torchgen makes of another one, in the same namespace."""
    full_name = OperatorName(f"{origin.schema.name.namespace}::{name}", overload)
    return NativeSchema(FunctionSchema(full_name, tuple(arguments), tuple(returns)))
