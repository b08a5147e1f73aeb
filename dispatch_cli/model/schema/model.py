"""Function schemas as values: their printed form, what is asked of arguments, and a signature beside a schema.

Sources: ``operator<<`` in ATen/core/function_schema.h; ``checkSchema`` in OperatorEntry.cpp, which PyTorch calls when a
schema or a kernel is registered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.types import (
    SYM_INT,
    SchemaType,
    TypeKind,
    list_of,
    optional_of,
    seen_by_torchscript,
)


@dataclass(frozen=True, slots=True)
class AliasInfo:
    """An alias annotation such as ``(a! -> a|b)``.

    before, after: the alias sets before and after the call, without duplicates, as written; ``*`` is the wildcard.
        PyTorch keeps them in hash tables, so that their order is not defined there; here it is kept.
    write: whether the argument is written to.
    contained: annotations of the elements, such as the ``(a!)`` of ``Tensor(a!)[]``.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    write: bool = False
    contained: tuple[AliasInfo, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"({text})" if set(self.before) == set(self.after) else f"({text} -> {'|'.join(self.after)})"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or return of a schema.

    name: empty for an unnamed return.
    real_type: as it was written; this is what is printed.
    size: the 3 of ``int[3]``. default: as PyTorch prints it. kwarg_only: it follows the ``*``.
    """

    name: str
    real_type: SchemaType
    size: int | None = None
    default: str | None = None
    kwarg_only: bool = False
    alias: AliasInfo | None = None

    @property
    def type(self) -> SchemaType:
        """As TorchScript sees it, where SymInt, ScalarType, Layout and MemoryFormat are int."""
        return seen_by_torchscript(self.real_type)

    def printed(self) -> str:
        """As PyTorch prints it."""
        text = self._type_text()
        if self.name:
            text += f" {self.name}"
        return text if self.default is None else f"{text}={self.default}"

    def _type_text(self) -> str:
        optional = self.real_type.kind is TypeKind.OPTIONAL
        shown = self.real_type.contained[0] if optional else self.real_type
        if shown.kind is not TypeKind.LIST:
            text = shown.text
        elif self.size is None and self.alias is None:
            return self.real_type.text
        else:
            inner = self.alias.contained[0] if self.alias and self.alias.contained else ""
            text = f"{shown.contained[0]}{inner}[{'' if self.size is None else self.size}]"
        if self.alias and self.alias.before:
            text += str(self.alias)
        return f"{text}?" if optional else text


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """A schema; ``str`` gives the text that PyTorch prints for it.

    name: both parts are empty for a bare signature. is_vararg, is_varret: whether the arguments or returns end in
    ``...``.
    unknown: why the schema is not known, where it is not; nothing but the name is then to be believed.
    """

    name: OperatorName
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    is_vararg: bool = False
    is_varret: bool = False
    unknown: str | None = None

    def __str__(self) -> str:
        return f"{self.name}({self._arguments_text()}) -> {self._returns_text()}"

    def _arguments_text(self) -> str:
        parts: list[str] = []
        keyword_only = False
        for argument in self.arguments:
            if argument.kwarg_only and not keyword_only:
                parts.append("*")
                keyword_only = True
            parts.append(argument.printed())
        if self.is_vararg:
            parts.append("...")
        return ", ".join(parts)

    def _returns_text(self) -> str:
        parts = [argument.printed() for argument in self.returns]
        if self.is_varret:
            parts.append("...")
        # A lone tuple needs brackets of its own, or it would read as several returns.
        bare = len(parts) == 1 and not parts[0].startswith("(")
        return parts[0] if bare else f"({', '.join(parts)})"


def is_tensor(kind: SchemaType) -> bool:
    """``Tensor`` or ``Tensor?``."""
    return kind.kind is TypeKind.TENSOR or (kind.kind is TypeKind.OPTIONAL and is_tensor(kind.contained[0]))


def is_tensor_list(kind: SchemaType) -> bool:
    """``Tensor[]``, ``Tensor?[]`` or ``Tensor[]?``."""
    if kind.kind is TypeKind.OPTIONAL:
        return is_tensor_list(kind.contained[0])
    return kind.kind is TypeKind.LIST and is_tensor(kind.contained[0])


def takes_tensors(argument: Argument) -> bool:
    """True for a tensor, or a list of tensors."""
    real = argument.real_type  # what TorchScript takes for int is no tensor
    return is_tensor(real) or is_tensor_list(real)


def writes(argument: Argument | None) -> bool:
    """True if the argument is written to."""
    return argument is not None and argument.alias is not None and argument.alias.write


def is_mutable(schema: FunctionSchema | None) -> bool:
    """``is_mutable``: an argument is written to."""
    return schema is not None and any(map(writes, schema.arguments))


def has_tensors(schema: FunctionSchema | None) -> bool:
    """True if an argument takes a tensor, or several (``contains_tensor_types``, ``has_tensor_arg``).

    An operator whose schema is not known is taken for one with tensors, as nearly all are.
    """
    if schema is not None and schema.unknown is not None:
        return True
    return schema is not None and any(map(takes_tensors, schema.arguments))


_EQUAL_NUMBERS = re.compile(r"\[(-?[0-9]+)(?:, \1)+\]")
"""A default of SymInt[]; of int[], PyTorch prints one of the numbers."""
_SYMINTS = frozenset({SYM_INT, optional_of(SYM_INT), list_of(SYM_INT), optional_of(list_of(SYM_INT))})
"""The types that a kernel may take unpacked, as plain integers; others, such as ``SymInt?[]``, it may not."""


def takes_symint(signature: FunctionSchema) -> bool:
    """True if a C++ kernel with this inferred signature is a symbolic one (``KernelFunction::isValidSymUnboxed``).

    PyTorch decides it from the function's parameters alone (``fn_has_symint``): one of SymInt, SymInt?, SymInt[],
    SymInt[]? is enough. Returns and the boxed and unboxed flags of a dump have no part in it.
    """
    return any(argument.real_type in _SYMINTS for argument in signature.arguments)


def without_symint(schema: FunctionSchema) -> FunctionSchema:
    """*schema* as kernels take it that are not symbolic: its arguments are int in place of SymInt; returns keep it."""
    return replace(schema, arguments=tuple(map(_without_symint, schema.arguments)))


def _without_symint(argument: Argument) -> Argument:
    if argument.real_type not in _SYMINTS:
        return argument
    default = None if argument.default is None else _EQUAL_NUMBERS.sub(r"\1", argument.default)
    return replace(argument, real_type=argument.type, default=default)


def find_schema_differences(expected: FunctionSchema, inferred: FunctionSchema) -> str | None:
    """PyTorch's sentence on the first difference between a schema and an inferred signature, or None.

    A symbolic kernel must name SymInt where the schema does; one that is not names int there. Names, defaults, aliases
    and keyword-only markers do not count. Source: ``checkSchema`` in OperatorEntry.cpp, ``findSchemaDifferences`` in
    infer_schema.cpp.
    """
    symbolic = takes_symint(inferred)
    left = [_real_type(argument, symbolic) for argument in expected.arguments]
    right = [argument.real_type for argument in inferred.arguments]
    left_returns, right_returns = ([result.real_type for result in side.returns] for side in (expected, inferred))
    return (
        _difference_in_number("arguments", left, right)
        or _difference_in_number("returns", left_returns, right_returns)
        or _difference_in_type("argument", left, right)
        or _difference_in_type("return", left_returns, right_returns)
    )


def _real_type(argument: Argument, with_symint: bool) -> SchemaType:
    return argument.real_type if with_symint or argument.real_type not in _SYMINTS else argument.type


def _difference_in_number(what: str, left: list[SchemaType], right: list[SchemaType]) -> str | None:
    return None if len(left) == len(right) else f"The number of {what} is different. {len(left)} vs {len(right)}."


def _difference_in_type(what: str, left: list[SchemaType], right: list[SchemaType]) -> str | None:
    for place, (a, b) in enumerate(zip(left, right, strict=True), start=1):
        if a is not b and a != b:
            return f"Type mismatch in {what} {place}: {a} vs {b}."
    return None
