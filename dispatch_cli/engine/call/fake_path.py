"""The code that FakeTensorMode runs for a call, and the outcome: plain results."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.span import Span


class FakePath(Enum):
    """Ways in which FakeTensorMode computes a call, in its order (``FakeTensorMode._dispatch_impl``)."""

    QUERY = "query"
    """It answers a question about a tensor by itself."""
    CONSTANT = "constant"
    """There is no fake tensor: the operator computes, and the result becomes a fake tensor."""
    DECOMPOSITION = "decomposition"
    """A Python decomposition (``torch._decomp.decomposition_table``)."""
    COMPOSITE = "composite"
    """The kernel at CompositeImplicitAutograd decomposes the operator (``OpOverload.decompose``)."""
    PRIM_META = "prim-meta"
    """The function of a primitive (``prim_meta_impl``)."""
    FAKE_IMPL = "fake-impl"
    """The fake implementation (``torch.library.register_fake``)."""
    IMPLEMENTATION = "implementation"
    """The mode's own function for the operator (``register_op_impl``)."""
    META = "meta"
    """The operator is called with Meta included: a Meta kernel, or one by which it decomposes."""
    TRIVIAL = "trivial"
    """There is nothing to compute: it returns nothing, or what it is given to write to."""
    FALLBACK = "fallback"
    """The operator's real kernel runs, on zeros of the same sizes (``run_fallback_kernel``)."""
    NONE = "none"
    """There is nothing to run: UnsupportedOperatorException."""


class FakeOutcome(NamedTuple):
    """Outcome of a call that FakeTensorMode takes.

    function: the Python function that runs, where it is known. key, kernel: of META and FALLBACK, where the call inside
    of the mode ends; of COMPOSITE, the kernel that decomposes. slots: the slots of the call inside of the mode.
    span: where the function or the kernel is declared.
    followed: False where a kernel calls other operators, and which ones is not known. When one of them has no kernel
        for these tensors, what is given as META or IMPLEMENTATION is really FALLBACK or NONE.
    zero_dim_works: of an error for tensors of two devices: there is none where the CPU tensors have no dimensions.
    """

    path: FakePath
    function: str | None = None
    key: str | None = None
    kernel: str | None = None
    slots: tuple[str, ...] = ()
    span: Span | None = None
    followed: bool = True
    zero_dim_works: bool = False
