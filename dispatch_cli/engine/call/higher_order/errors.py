"""The errors of ``HigherOrderOperator.dispatch``, in PyTorch's words (``torch/_ops.py``).

Objects and classes stand as ``<Name object>`` and ``<class 'Name'>``: their module and address are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.engine.call.errors import NOT_IMPLEMENTED, RUNTIME
from dispatch_cli.engine.call.trace import Error, ErrorKind
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, Slot
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import HigherOrderCalls

_PLACE = re.compile(r"\{(operator|mode|subclass|names|classes)\}")


def no_rule_for_mode(calls: HigherOrderCalls, operator: str, mode: str) -> Error:
    """The innermost mode has no implementation, and does not support higher-order operators by itself."""
    return _filled(calls.no_mode_rule, operator, object_text(mode))


def no_rule_for_subclass(calls: HigherOrderCalls, operator: str, subclass: str) -> Error:
    """A tensor subclass has no implementation."""
    return _filled(calls.no_subclass_rule, operator, subclass=_class_text(subclass))


def _filled(template: str, operator: str, mode: str = "", subclass: str = "", types: Sequence[str] = ()) -> Error:
    """An error of `HigherOrderCalls`."""
    values = {
        "operator": operator,
        "mode": mode,
        "subclass": subclass,
        "names": str(list(types)),
        "classes": f"[{', '.join(map(_class_text, types))}]",
    }
    kind, _, text = _PLACE.sub(lambda match: values[match[1]], template).partition(": ")
    return Error(ErrorKind.PYTHON, kind, text)


def no_rule_for_fake_tensor() -> Error:
    """A fake tensor whose mode has no implementation: PyTorch indexes the table without a check (KeyError)."""
    return Error(ErrorKind.PYTHON, "KeyError", "<class 'FakeTensorMode'>")


def fake_mode_is_set(operator: str) -> Error:
    """A fake tensor's mode gets the call while a fake mode is active (``FakeTensorMode.__torch_dispatch__``)."""
    text = f"FakeTensorMode should not be set when dispatching {operator}"
    return Error(ErrorKind.MODES, "AssertionError", text)


def nobody_handles(calls: HigherOrderCalls, operator: str, mode: str | None, types: Sequence[str]) -> Error:
    """All handlers returned NotImplemented, or there was none."""
    shown = "None" if mode is None else object_text(mode)
    return _filled(calls.unhandled or calls.no_subclass_rule, operator, shown, types=types)


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
        return Error(ErrorKind.AMBIGUOUS, RUNTIME, printed_texts.AMBIGUOUS_IN_PYTHON)
    return Error(ErrorKind.NO_KERNEL, NOT_IMPLEMENTED, entry.error or "")


def autograd_not_implemented(operator: str) -> Error:
    """A gradient is needed, and there is no derivative (``autograd_not_implemented``)."""
    return Error(ErrorKind.NO_KERNEL, RUNTIME, f"Autograd not implemented for {operator}")


def declared(text: str) -> Error:
    """The error that an implementation raises. text: the name of an exception and its text, or only a text."""
    head, colon, rest = text.partition(": ")
    named = bool(colon) and all(part.isidentifier() for part in head.split("."))
    return Error(ErrorKind.IMPL, head if named else "", rest if named else text)


def object_text(name: str) -> str:
    """An object as Python shows it, without its module and address."""
    return f"<{name} object>"


def _class_text(name: str) -> str:
    return f"<class '{name}'>"
