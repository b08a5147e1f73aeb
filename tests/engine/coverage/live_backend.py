"""Call operators on a backend at PrivateUse1 that is registered here, in Python, and say what happens.

usage: PYTHON live_backend.py   (a plan as JSON on standard input; run with the Python that has PyTorch)

The plan: operators, each a name and its kernels [key, kind]; fallback (kind or null); calls [operator, tensor]. Kinds:
"computes" notes itself and computes, "calls" calls an operator that has a derivative, "autograd" is an
autograd.Function around the kernels below, "fallthrough" and "raises" are what they say. Tensor: "backend", "mkldnn" or
the name of another device. Nothing here knows what should happen.
"""

import json
import re
import sys
import warnings

import torch
from torch._C import DispatchKey, DispatchKeySet

core = torch._C
PYTHON = DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.PythonTLSSnapshot)
DEVICE = "npy"
LIBRARY = torch.library.Library("covered", "DEF")
RAN = []


def made():
    """A tensor of the backend."""
    return core._acc.create_empty_tensor((2, 2), torch.float32)


def found(name):
    return getattr(torch.ops.covered, name).default


def like(tensor):
    return made() if tensor.device.type == DEVICE else torch.ones(2, 2)


def kernel(name, key, kind):
    if kind == "fallthrough":
        return torch.library.fallthrough_kernel

    def computes(x):
        RAN.append(key)
        return like(x)

    def calls(x):
        RAN.append(key)
        return torch.ops.covered.base(x)

    def raises(x):
        raise NotImplementedError("this kernel has no code")

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            with core._AutoDispatchBelowAutograd():
                return found(name)(x)

        @staticmethod
        def backward(_, gradient):
            return like(gradient)

    def autograd(x):
        RAN.append(key)
        return Own.apply(x)

    return {"computes": computes, "calls": calls, "raises": raises, "autograd": autograd}[kind]


def fallback(_, x):
    RAN.append("fallback")
    return like(x)


def register(plan):
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(DEVICE)
    if plan["fallback"] is not None:
        register.kept = torch.library.Library("_", "IMPL")
        by = torch.library.fallthrough_kernel if plan["fallback"] == "fallthrough" else fallback
        register.kept.fallback(by, "PrivateUse1")
    computing = [[key, "computes"] for key in ("CPU", "PrivateUse1", "MkldnnCPU", "IPU")]
    base = {"name": "base", "kernels": [*computing, ["Autograd", "autograd"]]}
    for operator in [base, *plan["operators"]]:
        LIBRARY.define(operator["name"] + "(Tensor x) -> Tensor")
        for key, kind in operator["kernels"]:
            LIBRARY.impl(operator["name"], kernel(operator["name"], key, kind), key)


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def tensor_of(text):
    if text == "backend":
        return made()
    if text == "mkldnn":
        return torch.ones(2, 2).to_mkldnn()
    return torch.Tensor._make_wrapper_subclass(Foreign, (2, 2), device=text)


def outcome(call):
    RAN.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = call(), None
        except Exception as raised:
            result, error = None, f"{type(raised).__name__}: {raised}"[:400]
    warned = any("autograd kernel was not registered" in str(warning.message) for warning in caught)
    return result, {"error": error, "ran": list(RAN), "warned": warned}


def training(operator):
    """A call with a tensor that requires a gradient, and what a backward pass does."""
    x = made().requires_grad_()
    result, answer = outcome(lambda: operator(x))
    node = None if result is None or result.grad_fn is None else result.grad_fn.name()
    answer["node"], answer["backward"] = node and re.sub(r".*::", "", node), None
    if node is not None:
        gradients, back = outcome(lambda: torch.autograd.grad(result, x, made(), allow_unused=True))
        answer["backward"] = {**back, "gradient": gradients is not None and gradients[0] is not None}
    return answer


def answer_to(name, text):
    """Results of a call without a gradient, and of one with it."""
    operator = found(name)
    with core._ExcludeDispatchKeyGuard(PYTHON):
        with torch.no_grad():
            _, plain = outcome(lambda: operator(tensor_of(text)))
        return {"plain": plain, "trained": training(operator) if text == "backend" else None}


asked = json.load(sys.stdin)
register(asked)
print(json.dumps([answer_to(*call) for call in asked["calls"]]))
