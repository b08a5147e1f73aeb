"""Schemas as torchgen sees them: what decides which functions belong together. Source: ``torchgen/model.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.extract.torchgen.native_name import NativeName

_ELEMENT = re.compile(r"[?\[]")
_OPTIONS = (
    ("dtype", frozenset({"ScalarType", "ScalarType?"})),
    ("layout", frozenset({"Layout", "Layout?"})),
    ("device", frozenset({"Device", "Device?"})),
    ("pin_memory", frozenset({"bool", "bool?"})),
)


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


class NativeSchema:
    """A schema of ``native_functions.yaml``, without namespace (``FunctionSchema``).

    positional, keyword, out: the arguments, in order; *out* are the mutable ones among those that are given by name.
    self_index: where ``self`` is among the positional arguments; -1 where it is not. kind: as ``FunctionSchema.kind``.
    """

    __slots__ = ("_signatures", "_text", "keyword", "kind", "name", "out", "positional", "returns", "self_index")

    def __init__(
        self,
        name: NativeName,
        positional: Sequence[NativeArgument],
        keyword: Sequence[NativeArgument],
        out: Sequence[NativeArgument],
        returns: Sequence[NativeArgument],
        text: str | None = None,
    ) -> None:
        self.name = name
        self.positional = positional
        self.keyword = keyword
        self.out = out
        self.returns = returns
        self._text = text
        self._signatures: dict[tuple[str, bool], str] = {}
        self.self_index = -1
        for index, argument in enumerate(positional):
            if argument.name == "self":
                self.self_index = index
                break
        self.kind = self._kind()

    def __str__(self) -> str:
        if self._text is None:
            pieces = [str(argument) for argument in self.positional]
            if self.keyword or self.out:
                pieces += ["*", *map(str, self.keyword), *map(str, self.out)]
            returns = ", ".join(map(str, self.returns))
            returned = returns if len(self.returns) == 1 else f"({returns})"
            self._text = f"{self.name}({', '.join(pieces)}) -> {returned}"
        return self._text

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

    def _kind(self) -> SchemaKind:
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

    @property
    def signature(self) -> str:
        """Text that is equal for all forms of one function (``FunctionSchema.signature``)."""
        return self._signature(self.name.base, True)

    @property
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
        known = self._signatures.get((base, defaults))
        if known is not None:
            return known
        positional = [_plain(argument, defaults) for argument in self.positional]
        keyword = [_plain(argument, defaults) for argument in self.without_options()]
        if self.name.base == "bernoulli" and self.name.overload == "p":
            positional = ["float p=0.5" if text.startswith("float p") else text for text in positional]
        returns = [argument.type for argument in self.returns] + [argument.type for argument in self.written()]
        dunder = "__" if self.name.dunder else ""
        text = f"{dunder}{base}({', '.join(positional)}|{', '.join(keyword)}){', '.join(returns)}"
        self._signatures[base, defaults] = text
        return text

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
