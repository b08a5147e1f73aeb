"""What is in effect in a dispatcher: definitions, kernels, fallbacks, libraries. Each is its own handle for `drop`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dispatch_cli.model.declarations import Kernel
from dispatch_cli.model.function_schema import AliasAnalysisKind, FunctionSchema
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

SILENT_OVERRIDES = frozenset({"Meta", "MTIA"})
"""Keys at which PyTorch overrides without a warning: Python meta kernels replace C++ ones, MTIA falls back to CPU."""


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """A kernel in effect, of an operator or as a backend fallback.

    operator: None for a backend fallback. key: where it stands; the catch-all stands at CompositeImplicitAutograd.
    catch_all: it was registered without a key. overrides: the registration that was active there before it.
    """

    operator: OperatorName | None
    key: str
    kernel: Kernel
    catch_all: bool = False
    overrides: Registration | None = None

    @property
    def function(self) -> Hashable:
        """Identity of the function: all fallthroughs are one function; an unnamed kernel is like no other."""
        if self.kernel.fallthrough:
            return "fallthrough"
        return self if self.kernel.function is None else self.kernel.function

    @property
    def warns(self) -> bool:
        """Whether PyTorch warns that this registration overrides another."""
        return self.overrides is not None and (self.catch_all or self.key not in SILENT_OVERRIDES)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A schema in effect.

    alias_analysis: None when it was left at its default (a legacy definition).
    debug: where it was registered, as a dump says it.
    """

    operator: OperatorName
    schema: FunctionSchema
    debug: str
    alias_analysis: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA
    tags: tuple[str, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NameHold:
    """An operator name kept alive without schema or kernel."""

    operator: OperatorName


@dataclass(frozen=True, slots=True, eq=False)
class LibraryHold:
    """The one DEF library of a namespace."""

    namespace: str
    debug: str
    span: Span | None = None


Handle = Registration | Definition | NameHold | LibraryHold
