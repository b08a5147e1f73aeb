"""Higher-order operators as they are declared: operators that have Python implementations only.

Source of the terms: ``torch/_ops.py`` (``HigherOrderOperator``).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.span import Span

FALLTHROUGH = "fallthrough"
"""Stand-in for an implementation where a key falls through (``HigherOrderOperator.fallthrough``)."""
AUTOGRAD_NOT_IMPLEMENTED = "autograd_not_implemented"
"""PyTorch's helper for operators without a derivative (``torch/_higher_order_ops/utils.py``)."""
FUNCTIONAL_MODE = "FunctionalTensorMode"
"""The mode type at which ``py_functionalize_impl`` registers."""
TRANSFORMS = ("Torch", "Vmap", "Grad", "Jvp", "Functionalize")
"""The functorch transforms (``TransformType``)."""


def is_autograd_not_implemented(kernel: str) -> bool:
    """True if a function is PyTorch's helper, by its name or its full name."""
    return kernel.rpartition(".")[2] == AUTOGRAD_NOT_IMPLEMENTED


class ImplKind(Enum):
    """Kind of the thing that an implementation is registered for."""

    DISPATCH = "dispatch"
    """A dispatch key: ``py_impl(DispatchKey.X)``."""
    AUTOGRAD = "autograd"
    """A derivative, at Autograd: ``py_autograd_impl``."""
    FUNCTIONALIZE = "functionalize"
    """Functionalization, at a dispatch key, a mode type and a transform: ``py_functionalize_impl``."""
    MODE = "mode"
    """A mode type: ``py_impl(FakeTensorMode)``."""
    SUBCLASS = "subclass"
    """A tensor subclass: ``py_impl(MyTensor)``."""
    TRANSFORM = "transform"
    """A functorch transform: ``py_impl(TransformType.Vmap)``."""


RAISES = "raises"
"""Word for an implementation that does not go on, but raises an error."""
ERROR_PLACES = {ImplKind.DISPATCH: "dispatch", ImplKind.MODE: "modes", ImplKind.TRANSFORM: "transforms"}
"""Kinds of places where an implementation for functionalization is registered, with their words in a declaration."""


class ImplPlace(NamedTuple):
    """Place of an implementation: in the table of a kind, under a name."""

    kind: ImplKind
    name: str


class HigherOrderImpl(NamedTuple):
    """One implementation of a higher-order operator.

    name: the dispatch key, mode type, tensor subclass or transform; of the other kinds, nothing.
    kernel: the function; `FALLTHROUGH` where the key falls through.
    redispatches: whether it calls the operator again, for what comes next; None when nothing is said about it.
    not_implemented: it returns NotImplemented.
    deferred_error: of `AUTOGRAD_NOT_IMPLEMENTED`, whether the error comes with the backward pass and not at once; None
        when nothing is said about it.
    raises: it raises an error wherever it runs. errors: their texts by the section of the place where it runs
        (`ERROR_PLACES`), or under an empty name for every place; at a place that is named it raises in any case.
    """

    kind: ImplKind
    name: str
    kernel: str
    fallthrough: bool = False
    redispatches: bool | None = None
    not_implemented: bool = False
    deferred_error: bool | None = None
    raises: bool = False
    errors: tuple[tuple[str, str], ...] = ()
    span: Span | None = None

    def error_at(self, kind: ImplKind) -> str | None:
        """The text of the error that it raises where it is found by a dispatch key, a mode or a transform.

        Empty where the text is not known; None where nothing says that it raises.
        """
        for place, text in self.errors:
            if place in ("", ERROR_PLACES.get(kind)):
                return text
        return "" if self.raises else None


class HigherOrderOperator(NamedTuple):
    """An operator with Python implementations only, in the order in which they are registered.

    adds: the implementations are added to the operator of this name that is there already; otherwise this one takes
    its place.
    side_effect: graphs must not drop its calls (``torch.fx.node.has_side_effect``).
    mutates: it writes to its arguments (``gen_schema`` gives a schema with an argument that is written to).
    is_own: the user's own files say something of it, and not only PyTorch or files that these extend.
    of_pytorch: PyTorch has it, as a state says. of_unknown: a capture has it that does not say who registered it.
    """

    name: str
    impls: tuple[HigherOrderImpl, ...] = ()
    side_effect: bool = False
    adds: bool = False
    span: Span | None = None
    mutates: bool = False
    is_own: bool = True
    of_pytorch: bool = False
    of_unknown: bool = False


class ModeType(NamedTuple):
    """A type of ``TorchDispatchMode``.

    supports_higher_order_operators: its ``__torch_dispatch__`` handles higher-order operators without an implementation
    for it.
    """

    name: str
    supports_higher_order_operators: bool = False
    span: Span | None = None
