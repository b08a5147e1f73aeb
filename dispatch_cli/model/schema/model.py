"""Function schemas as values, and their printed form (``operator<<`` in ATen/core/function_schema.h)."""

from __future__ import annotations

from dataclasses import dataclass

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.defaults import Value, print_constant, print_quoted
from dispatch_cli.model.schema.types import SchemaType, TypeKind, seen_by_torchscript


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
class Default:
    """A default value; wrapped, because None is one.

    text: how PyTorch has printed it, where that is known but not what it was read from.
    """

    value: Value
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or return of a schema.

    name: empty for an unnamed return.
    real_type: as it was written; this is what is printed.
    size: the 3 of ``int[3]``. kwarg_only: it follows the ``*``.
    """

    name: str
    real_type: SchemaType
    size: int | None = None
    default: Default | None = None
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
        if self.default is None:
            return text
        shown = self.default.text
        return f"{text}={self._default_text(self.default.value) if shown is None else shown}"

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

    def _default_text(self, value: Value) -> str:
        shown = self.real_type
        if isinstance(value, str):
            kind = shown.contained[0].kind if shown.kind is TypeKind.OPTIONAL else shown.kind
            return print_quoted(value) if kind is TypeKind.STRING else print_constant(value)
        if isinstance(value, tuple) and shown.kind is TypeKind.LIST and shown.contained[0].kind is TypeKind.INT:
            # As in native_functions.yaml: int[2] stride=1, not stride=[1, 1].
            same = len(value) > 1 and len(set(value)) == 1
            return print_constant(value[0] if same else value)
        return print_constant(value)


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
