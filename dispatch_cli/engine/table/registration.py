"""Things in effect in a dispatcher: definitions, kernels, fallbacks, libraries; the headers of operators; refusals.

Each thing is its own handle for `drop`. They are compared by identity: two registrations of equal content are two
registrations. What a dispatcher refuses is said in PyTorch's words.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import FunctionSchema

_TENSOR = re.compile(r"(?<![\w.])Tensor(?!\w)")
SILENT_OVERRIDES = frozenset({"Meta", "MTIA"})
"""Keys at which PyTorch overrides without a warning: Python meta kernels replace C++ ones, MTIA falls back to CPU."""


class Registration:
    """A kernel in effect, of an operator or as a backend fallback.

    operator: None for a backend fallback. key: where it stands; the catch-all stands at CompositeImplicitAutograd.
    catch_all: it was registered without a key. overrides: the kernel that was active there before it.
    captured: it is from the state that the dispatcher continues.
    """

    __slots__ = ("captured", "catch_all", "kernel", "key", "operator", "overrides")

    def __init__(
        self,
        operator: OperatorName | None,
        key: str,
        kernel: Kernel,
        catch_all: bool = False,
        overrides: Kernel | None = None,
        captured: bool = False,
    ) -> None:
        self.operator: Final = operator
        self.key: Final = key
        self.kernel: Final = kernel
        self.catch_all: Final = catch_all
        self.overrides: Final = overrides
        self.captured: Final = captured

    def __repr__(self) -> str:
        return f"<{self.operator or 'fallback'} at {self.key}: {self.kernel.debug}>"

    @property
    def function(self) -> Hashable:
        """Identity of the function: all fallthroughs are one function; an unnamed kernel is like no other."""
        if self.kernel.fallthrough:
            return "fallthrough"
        return self if self.kernel.function is None else self.kernel.function

    @property
    def warns(self) -> bool:
        """True if PyTorch warns that this registration overrides another."""
        wraps = self.kernel.wraps
        if wraps is not None and wraps.kind is WrapKind.VERSION_COUNTERS:
            return False  # ``custom_op`` filters this warning: it replaces a kernel of its own
        return self.overrides is not None and (self.catch_all or self.key not in SILENT_OVERRIDES)


class Definition:
    """A schema in effect.

    alias_analysis: None when it was left at its default (a legacy definition).
    debug: where it was registered, as a dump says it. captured: it is from the state that the dispatcher continues.
    python_module: the module and the context of ``m.set_python_module``.
    """

    __slots__ = ("alias_analysis", "captured", "debug", "operator", "python_module", "schema", "span", "tags")

    def __init__(
        self,
        operator: OperatorName,
        schema: FunctionSchema,
        debug: str,
        alias_analysis: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA,
        tags: tuple[str, ...] = (),
        span: Span | None = None,
        captured: bool = False,
        python_module: tuple[str, str] | None = None,
    ) -> None:
        self.operator: Final = operator
        self.schema: Final = schema
        self.debug: Final = debug
        self.alias_analysis: Final = alias_analysis
        self.tags: Final = tags
        self.span: Final = span
        self.captured: Final = captured
        self.python_module: Final = python_module

    @property
    def known_schema(self) -> FunctionSchema | None:
        """The schema; None where it is not known."""
        return self.schema if self.schema.unknown is None else None

    def __repr__(self) -> str:
        return f"<definition of {self.schema}>"


class LibraryHold:
    """The one DEF library of a namespace."""

    __slots__ = ("debug", "namespace", "span")

    def __init__(self, namespace: str, debug: str, span: Span | None = None) -> None:
        self.namespace: Final = namespace
        self.debug: Final = debug
        self.span: Final = span


Handle = Registration | Definition | LibraryHold


class OperatorHeader(NamedTuple):
    """Header of an operator: its schema as text, and the place of the declaration.

    overridden: the keys with more than one kernel. is_known: False where the operator is defined, and its schema is not
    known. captured: it is from the state that the dispatcher continues.
    """

    schema: str | None
    span: Span | None
    overridden: tuple[str, ...] = ()
    is_known: bool = True
    captured: bool = False


def schema_text_takes_tensors(schema: str) -> bool:
    """True if a printed schema has a tensor argument, optional or in a list."""
    end = schema.rindex(") ->") if ") ->" in schema else len(schema)  # alias annotations can have arrows, too
    return _TENSOR.search(schema, schema.index("("), end) is not None


def schema_text_returns_tensors(schema: str) -> bool:
    """True if a printed schema has a tensor among its results, or a list of some."""
    return _TENSOR.search(schema, schema.rindex(") ->")) is not None


def kernel_text(debug: str, fallthrough: bool) -> str:
    """A kernel in a table dump."""
    return f"fallthrough {debug}" if fallthrough else debug


class Fallbacks:
    """The backend fallbacks in effect.

    registrations: by runtime key. bits: bit *i* is set when slot *i* has one.
    held: these, and those in whose place another one is, as long as their libraries are there.
    """

    __slots__ = ("_texts", "bits", "held", "registrations")

    def __init__(self) -> None:
        self.registrations: dict[str, Registration] = {}
        self.bits = 0
        self.held: set[Registration] = set()
        self._texts: Mapping[str, str] | None = None

    @property
    def texts(self) -> Mapping[str, str]:
        """Text of a table dump for each, by key; the same mapping until one of them changes."""
        if self._texts is None:
            kernels = {key: entry.kernel for key, entry in self.registrations.items()}
            self._texts = {key: kernel_text(kernel.debug, kernel.fallthrough) for key, kernel in kernels.items()}
        return self._texts

    def add(self, registration: Registration, bit: int) -> None:
        """Put one at its key, whose slot has this bit."""
        self.registrations[registration.key] = registration
        self.held.add(registration)
        self.bits |= bit
        self._texts = None

    def remove(self, registration: Registration, bit: int) -> None:
        """Take back one that is held: its key, whose slot has this bit, has none then, whichever was there."""
        self.held.remove(registration)
        self.registrations.pop(registration.key, None)
        self.bits &= ~bit
        self._texts = None

    def copy(self) -> Fallbacks:
        """An independent copy."""
        copy = Fallbacks()
        copy.registrations, copy.bits, copy._texts = self.registrations.copy(), self.bits, self._texts
        copy.held = self.held.copy()
        return copy


class Refusal(Enum):
    """The kinds of refusal; the value is the stable code of the problem."""

    DUPLICATE_DEFINITION = "duplicate-definition"
    DUPLICATE_FALLBACK = "duplicate-fallback"
    SIGNATURE_MISMATCH = "signature-mismatch"
    DUPLICATE_LIBRARY = "duplicate-library"
    UNKNOWN_KEY = "unknown-dispatch-key"
    UNKNOWN_OPERATOR = "unknown-operator"
    BLOCK_MISUSE = "block-misuse"
    ALIAS_KEY = "alias-key"
    PYTHON_KERNEL = "python-kernel"
    NO_KERNEL = "no-kernel"
    FAKE_IMPL = "fake-impl"


class Refused(RuntimeError):
    """A registration or query that PyTorch would refuse; the dispatcher's state is as it was.

    The text is PyTorch's. earlier: the registration that it conflicts with, if any.
    """

    def __init__(
        self, kind: Refusal, message: str, earlier: Registration | Definition | LibraryHold | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.earlier = earlier
