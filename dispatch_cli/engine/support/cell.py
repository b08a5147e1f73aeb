"""The support matrix: operators in rows, a backend and a context in each column, a verdict in each cell."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class Verdict(Enum):
    """Outcome of a cell; the value is its word in JSON.

    OWN: a kernel of the operator for this backend or context. COMPOSITE: a kernel at an alias key, or one written in
    other operators. DECOMPOSITION: the operator is replaced by others (a decomposition, a batching rule of parts).
    FALLBACK: a backend fallback. NOTHING_TO_COMPUTE: with fake tensors, for an operator that returns nothing, or only
    what it writes to. NO_KERNEL: nothing is registered for this backend, and PyTorch says so; a gap of the library.
    RAISES: PyTorch raises although the library means to support the call. GRADIENT_LOST: the call returns, and its
    gradient is missing or the backward pass raises. WRONG: the call returns a wrong result, or drops a write, without
    an error. NOT_KNOWN: the declarations do not decide it. NOT_APPLICABLE: the context means nothing for the operator.
    """

    OWN = "own"
    COMPOSITE = "composite"
    DECOMPOSITION = "decomposition"
    FALLBACK = "fallback"
    NOTHING_TO_COMPUTE = "nothing-to-compute"
    NO_KERNEL = "no-kernel"
    RAISES = "raises"
    GRADIENT_LOST = "gradient-lost"
    WRONG = "silently-wrong"
    NOT_KNOWN = "not-known"
    NOT_APPLICABLE = "not-applicable"

    @property
    def works(self) -> bool:
        """True if the call gives the right result."""
        return self in (
            Verdict.OWN,
            Verdict.COMPOSITE,
            Verdict.DECOMPOSITION,
            Verdict.FALLBACK,
            Verdict.NOTHING_TO_COMPUTE,
        )

    @property
    def fails(self) -> bool:
        """True if the call is known not to give it."""
        return self in (Verdict.NO_KERNEL, Verdict.RAISES, Verdict.GRADIENT_LOST, Verdict.WRONG)


class Column(NamedTuple):
    """A column. backend: its dispatch key, such as CUDA; device: the word for it in a tensor, such as cuda.

    tensor, contexts: of CUSTOM, the tensor and the contexts that were named.
    """

    backend: str
    device: str
    context: SupportContext
    tensor: TensorSpec | None = None
    contexts: tuple[Context, ...] = ()


class Reason(Enum):
    """The rule behind a verdict, for every verdict but those that work; the value is its word in JSON.

    CALL: the simulated call raises, see `Cell.error`. INCOMPLETE: the state lacks what decides. ASSUMED: it depends on
    what a kernel does, which no declaration says. CAST_COPY: autocast casts a tensor that is written to, so that the
    copy is written. LEFT_OUT: the gradient raises where a call leaves out arguments. NOT_FUNCTIONAL: no derivative, and
    ``register_autograd`` takes none for such a schema. NOT_TRANSFORMED: no derivative in a transform of torch.func,
    where ``register_autograd`` does not help. NO_AUTOCAST: the autocast key of the backend has neither a kernel nor a
    fallback. NOT_DEFINED: the operator has no definition, and others of its namespace have one. NO_KEY: a C++ kernel
    that is registered without a key serves the call; only one that calls PyTorch's operators works there.
    """

    CALL = "call"
    NO_BACKEND_KERNEL = "no-backend-kernel"
    NO_FAKE = "no-fake"
    NO_BACKWARD = "no-backward"
    BACKWARD_WARNS = "backward-warns"
    GRADIENT_DROPPED = "gradient-dropped"
    NOT_FUNCTIONAL = "not-functional"
    NOT_TRANSFORMED = "not-transformed"
    UNDECLARED_WRITE = "undeclared-write"
    MUTABLE_RESULT = "mutable-result"
    ALIASED_RESULT = "aliased-result"
    NO_VMAP = "no-vmap"
    NO_JVP = "no-jvp"
    NO_AUTOCAST = "no-autocast"
    AUTOGRAD_FUNCTION = "autograd-function"
    CAST_COPY = "cast-copy"
    FUNCTION_ARGUMENTS = "function-arguments"
    LEFT_OUT = "left-out"
    NOT_DEFINED = "not-defined"
    NO_SCHEMA = "no-schema"
    NO_KEY = "no-key"
    INCOMPLETE = "incomplete"
    ASSUMED = "assumed"


class SupportCall(NamedTuple):
    """The call behind a cell, as `resolve` takes it. arguments: what a factory is given, such as ``device=cuda``."""

    tensors: tuple[str, ...]
    contexts: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


class Cell(NamedTuple):
    """A cell. key, kernel, span: the registration that serves the call, or that fails it, where there is one.

    reason: None where the call works. error: the first sentence of PyTorch's text, where the call raises it. call: None
    where no single call shows it.
    """

    verdict: Verdict
    reason: Reason | None = None
    key: str | None = None
    kernel: str | None = None
    span: Span | None = None
    error: str | None = None
    call: SupportCall | None = None


class SupportRow(NamedTuple):
    """An operator, and a cell for each column."""

    operator: OperatorName
    schema: str | None
    span: Span | None
    cells: tuple[Cell, ...]
