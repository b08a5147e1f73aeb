"""A kernel as it is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.redispatch import Redispatch
    from dispatch_cli.model.schema import FunctionSchema
    from dispatch_cli.model.span import Span


class Kernel(NamedTuple):
    """One kernel as it is registered.

    debug: the text a dump shows for it; of a kernel declared by name, that name.
    function: identity of the function behind it. PyTorch takes two registrations of one function for equal;
        None stands for a function that nothing else registers.
    signature: the inferred signature, or None (boxed kernels and Python kernels have none).
    boxed, unboxed, fallthrough: the flags of the dump's brackets.
    python: the kernel is a Python function.
    span: where it is declared; None when it does not come from a file.
    redispatches: how it goes on with a call; None when nothing is said about it.
    """

    debug: str
    function: str | None = None
    signature: FunctionSchema | None = None
    boxed: bool = True
    unboxed: bool = False
    fallthrough: bool = False
    python: bool = False
    span: Span | None = None
    redispatches: Redispatch | None = None
