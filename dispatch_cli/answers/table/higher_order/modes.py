"""Calls of a higher-order operator in a mode, simulated: what an ordinary call does, and when the mode is asked."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.higher_order.simulate import (
    asks_a_mode,
    call_in_mode,
    call_traced_above_autograd,
    decomposes,
    device_of,
)
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, PROXY_MODE
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace

INFERENCE = "inference_mode"


class ModeCallKind(Enum):
    """Way in which the operator is called in the mode; the value is the name in machine formats."""

    ORDINARY = "ordinary"
    INFERENCE = "inference-mode"
    """In inference mode, which leaves the autograd keys out."""
    ABOVE_AUTOGRAD = "above-autograd"
    """As ``torch.export`` and ``make_fx(pre_dispatch=True)`` trace it."""


class ModeCall(NamedTuple):
    """A call in a mode. tensor, contexts: as `resolve` takes them.

    asks_mode: whether a mode is asked about the operator. key: of the last step. kernel, source: the implementation
    that runs there, and the key that it is registered for. decomposes: it is composite, and calls other operators.
    error_type, error: what PyTorch raises.
    """

    kind: ModeCallKind
    tensor: str
    contexts: tuple[str, ...]
    asks_mode: bool
    key: str
    kernel: str | None
    source: str | None
    decomposes: bool
    error_type: str | None
    error: str | None


def mode_calls(state: State, operator: HigherOrderOperator, place: ImplPlace) -> tuple[ModeCall, ...]:
    """The calls by which a mode is explained; none for another place."""
    if place.kind is not ImplKind.MODE:
        return ()
    mode = place.name
    tensor = f"{device_of(state, operator) or 'cpu'}{' fake' if mode == FAKE_TENSOR_MODE else ''}"
    try:
        calls = [
            _row(ModeCallKind.ORDINARY, call_in_mode(state, operator, tensor, mode)),
            _row(ModeCallKind.INFERENCE, call_in_mode(state, operator, tensor, mode, INFERENCE)),
        ]
        if mode == PROXY_MODE:
            calls.append(_row(ModeCallKind.ABOVE_AUTOGRAD, call_traced_above_autograd(state, operator, tensor)))
    except CallError:
        return ()
    return tuple(calls)


def _row(kind: ModeCallKind, call: HigherOrderCall) -> ModeCall:
    last, error = call.hops[-1], call.end.error
    return ModeCall(
        kind=kind,
        tensor=str(call.tensors[0]),
        contexts=tuple(map(str, call.contexts)),
        asks_mode=asks_a_mode(call),
        key=last.key,
        kernel=None if last.impl is None else last.impl.kernel,
        source=None if last.impl is None or last.entry is None else last.entry.decision.source,
        decomposes=decomposes(call),
        error_type=None if error is None else error.type,
        error=None if error is None else error.text,
    )
