"""Changes of declarations that a person, or a program, would make to repair something."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.kernel import Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import META


class Action(Enum):
    """Action of an edit; the value is the name in machine formats."""

    REGISTER = "register"
    """A kernel is registered, after everything else."""
    REMOVE = "remove"
    """The registration of a kernel is taken out."""
    FALL_BACK = "register-fallback"
    """A backend fallback is registered, for all operators."""


class Function(Enum):
    """Function that an edit registers; the value is the name in machine formats."""

    OWN = "own"
    """A new one, to be written."""
    SAME = "same-as"
    """The one that is, or was, registered at another key of the operator."""
    FALLBACK = "fallback"
    """The backend fallback of the key."""
    FALLTHROUGH = "fallthrough"
    """PyTorch's fallthrough."""
    FAKE = "fake"
    """A fake implementation, to be written."""


class Edit(NamedTuple):
    """One change of registrations.

    operator: its operator; None of FALL_BACK. key: where the kernel is registered; of REMOVE, where it was.
    function: which one; None of REMOVE. source: of SAME, the key whose kernel it is. kernel: its name.
    redispatches: how a new kernel has to go on; None where its key tells.
    span: where the registration is declared that is removed.
    """

    action: Action
    operator: OperatorName | None
    key: str
    function: Function | None = None
    source: str | None = None
    kernel: str | None = None
    redispatches: Redispatch | None = None
    span: Span | None = None


_GOES_ON = {
    "ADInplaceOrView": RedispatchKind.BELOW_KEY,
    "CompositeExplicitAutograd": RedispatchKind.NO,
    "CompositeImplicitAutograd": RedispatchKind.OTHER_OPERATORS,
    "CompositeImplicitAutogradNestedTensor": RedispatchKind.OTHER_OPERATORS,
    "FuncTorchBatchedDecomposition": RedispatchKind.OTHER_OPERATORS,
}
"""Required kind of redispatch of a kernel, by the key at which it is registered."""


def own_kernel(operator: OperatorName, key: str) -> Edit:
    """A kernel of its own is registered at *key*; it has a name that says so."""
    kind = _GOES_ON.get(key, RedispatchKind.BELOW_KEY if key.startswith("Autograd") else None)
    redispatches = None if kind is None else Redispatch(kind)
    return Edit(
        Action.REGISTER,
        operator,
        key,
        Function.OWN,
        kernel=f"{_short(operator)}_{key}".lower(),
        redispatches=redispatches,
    )


def fake_impl(operator: OperatorName) -> Edit:
    """A fake implementation is registered; it has a name that says so."""
    return Edit(Action.REGISTER, operator, META, Function.FAKE, kernel=f"{_short(operator)}_fake")


def _short(operator: OperatorName) -> str:
    """The operator's name as a part of a function's name."""
    return operator.name.rpartition("::")[2] + (f"_{operator.overload}" if operator.overload else "")


def fallthrough(operator: OperatorName, key: str) -> Edit:
    """A fallthrough is registered at *key*."""
    return Edit(Action.REGISTER, operator, key, Function.FALLTHROUGH)


def fallthrough_fallback(key: str) -> Edit:
    """A fallthrough is registered at *key* as the backend fallback."""
    return Edit(Action.FALL_BACK, None, key, Function.FALLTHROUGH)
