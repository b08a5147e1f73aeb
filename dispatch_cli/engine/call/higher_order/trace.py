"""Trace of a simulated call of a higher-order operator, step by step: plain results, without words for people.

Every step begins with a selection: an implementation that calls the operator again does so by name, with arguments and
thread state as they are then, and never with a key set of its choice.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.trace import Does, End, Reached, Selection, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.higher_order import HigherOrderEntry
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.higher_order import HigherOrderImpl


class Asker(Enum):
    """Kind of handler that was asked for the call."""

    MODE = "mode"
    """The innermost mode, by the implementation for its type; it is taken off for the time of the implementation."""
    MODE_ITSELF = "mode-itself"
    """The innermost mode's ``__torch_dispatch__``, because it supports higher-order operators; it is taken off, too."""
    PRE_DISPATCH_MODE = "pre-dispatch-mode"
    """The innermost mode of the PreDispatch stack, by the implementation for its type."""
    FAKE_TENSOR = "fake-tensor"
    """A fake tensor, by the implementation for FakeTensorMode."""
    SUBCLASS = "subclass"
    """A tensor with a ``__torch_dispatch__``, by the implementation for its class."""
    TRANSFORM = "transform"
    """The innermost functorch transform, by its implementation."""


class HandlerAnswer(Enum):
    """The answer of a handler that was asked."""

    HANDLES = "handles"
    NOT_IMPLEMENTED = "not-implemented"
    """It returned NotImplemented: the next one is asked."""
    NO_IMPL = "no-impl"
    """There is no implementation for it, which is an error."""


class AskedHandler(NamedTuple):
    """One that was asked.

    name: of the class or transform. position: of its context or tensor, from 1; None of a transform. impl: by which
    implementation.
    """

    kind: Asker
    name: str
    position: int | None
    answer: HandlerAnswer
    impl: HigherOrderImpl | None = None


class HigherOrderHop(NamedTuple):
    """One step.

    key: the highest key of the set. entry: what ``resolve_key`` finds there, where it was asked.
    asked: modes, subclasses or transforms, in turn.
    impl: the implementation that runs. needs_gradient: of an autograd implementation, whether the call needs one.
    does, why: what it does with the call, and how that is known.
    excludes: the keys that a call again is made without. takes_off: the mode or transform that is taken off for it.
    """

    key: str
    selection: Selection
    reached: Reached
    does: Does
    why: Why
    entry: HigherOrderEntry | None = None
    asked: tuple[AskedHandler, ...] = ()
    impl: HigherOrderImpl | None = None
    needs_gradient: bool | None = None
    excludes: DispatchKeySet | None = None
    takes_off: str | None = None


class HigherOrderCall(NamedTuple):
    """A simulated call of a higher-order operator.

    deferred: the error that the backward pass would raise; None when there is none. deferred_is_known: False when the
    declaration leaves open whether it comes there or at once.
    """

    operator: str
    tensors: tuple[TensorSpec, ...]
    contexts: tuple[Context, ...]
    hops: tuple[HigherOrderHop, ...]
    end: End
    deferred: str | None = None
    deferred_is_known: bool = True
