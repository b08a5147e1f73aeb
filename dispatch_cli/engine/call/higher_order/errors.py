"""The errors of ``HigherOrderOperator.dispatch``, in PyTorch's words (``torch/_ops.py``).

Objects and classes stand as ``<Name object>`` and ``<class 'Name'>``: their module and address are not known here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.call.errors import NOT_IMPLEMENTED, RUNTIME
from dispatch_cli.engine.call.trace import Error, ErrorKind
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, Slot
from dispatch_cli.engine.python.table import AMBIGUOUS_TEXT


def no_rule_for_mode(operator: str, mode: str) -> Error:
    """The innermost mode has no implementation, and does not support higher-order operators by itself."""
    shown = object_text(mode)
    return Error(
        ErrorKind.PYTHON,
        NOT_IMPLEMENTED,
        f"There was no rule registered for HigherOrderOperator {operator} and mode {shown}."
        f"Hint: set {shown}'s supports_higher_order_operators to True."
        f" This causes all higher order operators to pass through {shown}'s __torch_dispatch__,"
        f" so handle them accordingly by adding support for HigerOrderOperators (in this case, {operator}) in"
        f" {shown}.__torch_dispatch__ or returning NotImplemented when not supported.",
    )


def no_rule_for_subclass(operator: str, subclass: str) -> Error:
    """A tensor subclass has no implementation."""
    text = f"There was no rule registered for HOP {operator} and subclass <class '{subclass}'>. "
    return Error(ErrorKind.PYTHON, NOT_IMPLEMENTED, f"{text}We recommend filing an issue.")


def no_rule_for_fake_tensor() -> Error:
    """A fake tensor whose mode has no implementation: PyTorch indexes the table without a check (KeyError)."""
    return Error(ErrorKind.PYTHON, "KeyError", "<class 'FakeTensorMode'>")


def fake_mode_is_set(operator: str) -> Error:
    """A fake tensor's mode gets the call while a fake mode is active (``FakeTensorMode.__torch_dispatch__``)."""
    text = f"FakeTensorMode should not be set when dispatching {operator}"
    return Error(ErrorKind.MODES, "AssertionError", text)


def nobody_handles(operator: str, mode: str | None, types: Sequence[str]) -> Error:
    """All handlers returned NotImplemented, or there was none."""
    shown = "None" if mode is None else object_text(mode)
    return Error(
        ErrorKind.PYTHON,
        "TypeError",
        f"HigherOrderOperator '{operator}' is not supported for the given input types. "
        f"This typically happens when using custom tensor types or dispatch modes that don't "
        f"have implementations for this operation.\n\n"
        f"Current mode: {shown}\nInput types: {list(types)}\n\n"
        f"To fix this, can add support for '{operator}' in {shown}'s __torch_dispatch__\n",
    )


def no_rule_for_transform(transform: str, number: int) -> Error:
    """The innermost functorch transform has no implementation: PyTorch indexes the table without a check (KeyError)."""
    return Error(ErrorKind.TRANSFORM, "KeyError", f"<TransformType.{transform}: {number}>")


def no_transform() -> Error:
    """The front key without a functorch transform."""
    return Error(ErrorKind.TRANSFORM, "AssertionError", "interpreter must not be None")


def not_registered(mode: str) -> Error:
    """The innermost mode of the PreDispatch stack has no implementation."""
    return Error(ErrorKind.PYTHON, "AssertionError", f"Current active mode {object_text(mode)} not registered")


def no_kernel(entry: HigherOrderEntry) -> Error:
    """``resolve_key`` finds nothing that a higher-order operator can run."""
    if entry.slot is Slot.AMBIGUOUS:
        return Error(ErrorKind.AMBIGUOUS, RUNTIME, AMBIGUOUS_TEXT)
    return Error(ErrorKind.NO_KERNEL, NOT_IMPLEMENTED, entry.error or "")


def autograd_not_implemented(operator: str) -> Error:
    """A gradient is needed, and there is no derivative (``autograd_not_implemented``)."""
    return Error(ErrorKind.NO_KERNEL, RUNTIME, f"Autograd not implemented for {operator}")


def declared(text: str) -> Error:
    """What an implementation raises. text: the name of an exception and its text, or only a text."""
    head, colon, rest = text.partition(": ")
    named = bool(colon) and all(part.isidentifier() for part in head.split("."))
    return Error(ErrorKind.IMPL, head if named else "", rest if named else text)


def object_text(name: str) -> str:
    """An object as Python shows it, without its module and address."""
    return f"<{name} object>"
