"""A script for a Python that has PyTorch: how calls of higher-order operators end, by their implementations.

It reads from standard input what each operator has, name → {section of a declaration: names}; it writes JSON: for each
operator, how the calls end.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch._higher_order_ops.utils import autograd_not_implemented
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensorMode
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode, make_fx, track_tensor_tree

warnings.simplefilter("ignore")
MODES = {
    "FakeTensorMode": FakeTensorMode,
    "ProxyTorchDispatchMode": ProxyTorchDispatchMode,
    "FunctionalTensorMode": FunctionalTensorMode,
}
Has = dict[str, Any]


def operator(name: str, has: Has) -> Any:
    """The operator with those implementations; each of them is a simple one of its kind."""

    def call(self: Any, x: torch.Tensor) -> Any:
        return HigherOrderOperator.__call__(self, x)

    op = type(name, (HigherOrderOperator,), {"__init__": lambda self: _init(self, name), "__call__": call})()

    def compute(x: torch.Tensor) -> torch.Tensor:
        if has["mutates"]:
            x.add_(1)
        return x.clone()

    def below(x: torch.Tensor) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return op(x)

    def traced(mode: Any, x: torch.Tensor) -> Any:
        proxy = mode.tracer.create_proxy("call_function", op, (mode.tracer.unwrap_proxy(x),), {})
        return track_tensor_tree(op(x), proxy, constant=None, tracer=mode.tracer)

    for key in has["dispatch"]:
        op.py_impl(getattr(torch._C.DispatchKey, key))(below if key.startswith("Autograd") else compute)
    for key in has["fallthrough"]:
        op.fallthrough(getattr(torch._C.DispatchKey, key))
    if has["autograd"]:
        op.py_impl(torch._C.DispatchKey.Autograd)(autograd_not_implemented(op, deferred_error=True))
    for mode in has["modes"]:
        op.py_impl(MODES[mode])(traced if mode == "ProxyTorchDispatchMode" else lambda _, x: x)
    if has["functionalize"]:
        op.py_functionalize_impl(lambda _, x: x)
    if has["side_effect"]:
        torch.fx.node.has_side_effect(op)
    return op


def _init(self: Any, name: str) -> None:
    HigherOrderOperator.__init__(self, name)


def outcome(call: Callable[[], Any]) -> str:
    """``runs``, or the type and the first words of the error."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return "runs"


def under(op: Any, mode: str, below_autograd: bool) -> str:
    """The outcome of a call in a mode."""
    fake = FakeTensorMode()
    guard = torch._C._AutoDispatchBelowAutograd if below_autograd else nullcontext
    if mode == "ProxyTorchDispatchMode":

        def function(x: torch.Tensor) -> Any:
            with guard():
                return op(x)

        return outcome(lambda: make_fx(function)(torch.ones(2)))
    tensor = fake.from_tensor(torch.ones(2)) if mode == "FakeTensorMode" else torch.ones(2)
    entered = fake if mode == "FakeTensorMode" else FunctionalTensorMode()

    def call() -> Any:
        with entered, guard():
            return op(tensor)

    return outcome(call)


def calls(name: str, has: Has) -> dict[str, Any]:
    """Outcomes of the calls of one operator."""
    op = operator(name, has)
    outcomes: dict[str, Any] = {"plain": outcome(lambda: op(torch.ones(2)))}
    with torch.inference_mode():
        outcomes["inference"] = outcome(lambda: op(torch.ones(2)))
    outcomes["needs gradient"] = outcome(lambda: op(torch.ones(2, requires_grad=True).clone()))
    for mode in MODES:
        outcomes[mode] = [under(op, mode, below_autograd) for below_autograd in (False, True)]
    outcomes["above autograd"] = outcome(lambda: make_fx(op, pre_dispatch=True)(torch.ones(2)))
    return outcomes


print(json.dumps({name: calls(name, has) for name, has in json.load(sys.stdin).items()}))
