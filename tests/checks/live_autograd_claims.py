"""A script for a Python that has PyTorch: what calls do where the checks of autograd and reach say what they do.

It writes JSON: claim → what happened.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet
from torch.library import fallthrough_kernel

warnings.simplefilter("ignore")
NAMESPACE = "dispatch_cli_autograd_claims"
MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
OUTCOMES = {
    "There were no tensor arguments": "no tensors",
    "ambiguous": "ambiguous",
    "has kernels registered to both": "ambiguous",
    "Could not run": "could not run",
    "convolution_overrideable not implemented": "not implemented",
    "automatic differentiation": "refuses gradients",
    "Expected src_subclass_tensor": "runs",
}
library = torch.library.Library(NAMESPACE, "DEF")
ran: list[str] = []
counter: Iterator[int] = iter(range(1000))


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def operator(*keys: str, schema: str = "(Tensor x) -> Tensor") -> Any:
    """An operator with a kernel at each key that notes the key and makes a new tensor, past autograd."""
    name = f"op{next(counter)}"
    library.define(f"{name}{schema}")
    for key in keys:
        key, _, kind = key.partition("=")
        library.impl(name, fallthrough_kernel if kind else noting(key), key)
    return getattr(getattr(torch.ops, NAMESPACE), name)


def noting(key: str) -> Any:
    def kernel(*_: Any) -> Any:
        ran.append(key)
        return torch.zeros(1)

    return kernel


def outcome(call: Callable[[], Any]) -> str:
    ran.clear()
    try:
        call()
    except (RuntimeError, NotImplementedError, AssertionError) as error:
        return next((word for text, word in OUTCOMES.items() if text in str(error)), str(error))
    return ran[0] if ran else "runs"


def on(device: str, called: Any, dimensions: int = 1) -> str:
    """A call with a tensor of a device that this build may not have."""
    tensor = torch.Tensor._make_wrapper_subclass(Foreign, (1,) * dimensions, device=device)
    with torch._C._ExcludeDispatchKeyGuard(
        DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.PythonTLSSnapshot)
    ):
        return outcome(lambda: called(tensor))


def inference(call: Callable[[], Any]) -> str:
    with torch.inference_mode():
        return outcome(call)


def sparse() -> torch.Tensor:
    return torch.eye(2).to_sparse()


def nested() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def bypassed() -> dict[str, str]:
    of_sparse, of_nested = operator("SparseCPU", MATH), operator("NestedTensorCPU", "Autograd=fallthrough", MATH)
    return {
        "sparse": outcome(lambda: of_sparse(sparse())),
        "sparse in inference mode": inference(lambda: of_sparse(sparse())),
        "nested": outcome(lambda: of_nested(nested())),
        "nested in inference mode": inference(lambda: of_nested(nested())),
        **{
            device: on(device, operator(key, MATH))
            for device, key in (("mtia", "MTIA"), ("hip", "HIP"), ("xpu", "XPU"))
        },
    }


def displaced() -> dict[str, str]:
    of_nested, of_cpu = operator("NestedTensorCPU", MATH), operator("CPU", MATH)
    with ExitStack() as stack:
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        result = of_cpu(torch.ones(1, requires_grad=True))
        result.sum().backward()
    return {
        "nested": outcome(lambda: of_nested(nested())),
        "cpu": outcome(lambda: of_cpu(torch.ones(1))),
        "backward": warns_of(caught),
        "of other operators": of_other_operators(),
    }


def warns_of(caught: list[warnings.WarningMessage]) -> str:
    return "warns" if any("an autograd kernel was not registered" in str(warning.message) for warning in caught) else ""


def of_other_operators() -> list[Any]:
    """A kernel at CPU that calls differentiable operators, under the autograd fallback: derivative, and backward()."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("true_divide.Tensor", torch.div, "CPU")
    value = torch.ones(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.true_divide(value, torch.full((1,), 4.0)).sum().backward()
    library._destroy()
    return [value.grad.tolist(), warns_of(caught)]


def ambiguous() -> dict[str, str]:
    of_mkldnn, of_sparse, of_hip = (
        operator(*keys, MATH) for keys in (["MkldnnCPU"], ["SparseCPU"], ["SparseCPU", "HIP"])
    )
    return {
        "mkldnn": outcome(lambda: of_mkldnn(torch.ones(1, 1).to_mkldnn())),
        "mkldnn, with a sparse kernel": outcome(lambda: of_sparse(torch.ones(1, 1).to_mkldnn())),
        "hip, with a sparse kernel": on("hip", of_hip),
    }


def alone() -> dict[str, str]:
    kernel, skipped = operator("Autograd"), operator("Autograd", DEFAULT)
    outcomes = {
        "in inference mode": inference(lambda: kernel(torch.ones(1))),
        "otherwise": outcome(lambda: kernel(torch.ones(1))),
        "skipped": inference(lambda: skipped(torch.ones(1))),
    }
    inner = getattr(torch.ops.export, "access_subclass_inner_tensor", None)
    if inner is not None:
        outcomes["export"] = inference(lambda: inner(torch.ones(1), "x"))
    return outcomes


def in_pytorch() -> dict[str, str]:
    image, line = torch.ones(1, 1, 4, 4, requires_grad=True), torch.ones(1, 1, 4, requires_grad=True)
    outcomes = {
        "avg_pool2d.out": outcome(lambda: torch.ops.aten.avg_pool2d.out(image, [2], out=torch.empty(1, 1, 2, 2))),
    }
    if "out" in torch.ops.aten.avg_pool1d.overloads():
        outcomes["avg_pool1d.out"] = outcome(lambda: torch.ops.aten.avg_pool1d.out(line, [2], out=torch.empty(1, 1, 2)))
    if hasattr(torch.library.Library, "fallback"):
        fallback = torch.library.Library("_", "IMPL")
        fallback.fallback(noting("fallback"), "PrivateUse1")
        ones, zeros = [1, 1], [0, 0]
        outcomes["convolution under a fallback"] = on(
            "privateuseone", lambda x: torch.ops.aten.convolution(x, x, None, ones, zeros, ones, False, zeros, 1), 4
        )
    replacing = torch.library.Library("aten", "IMPL")
    replacing.impl("max_pool2d", noting("Autograd"), "Autograd")
    outcomes["max_pool2d's kernel at Autograd"] = outcome(lambda: torch.ops.aten.max_pool2d(image, [2]))
    return outcomes


def python() -> dict[str, list[str]]:
    """The operators that aten::hardshrink comes down to under the Python dispatcher."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            ran.append(str(func))
            return func(*args, **(kwargs or {}))

    outcomes, tensor = {}, torch.ones(1)
    for context in ("grad", "inference"):
        ran.clear()
        with torch.inference_mode(context == "inference"), enable_python_dispatcher(), Noting():
            torch.ops.aten.hardshrink(tensor)
        outcomes[context] = list(ran)
    return outcomes


factory = operator("CPU", schema="(int size) -> Tensor")
json.dump(
    {
        "bypassed": bypassed(),
        "displaced": displaced(),
        "ambiguous": ambiguous(),
        "alone": alone(),
        "factory": outcome(lambda: factory(1)),
        "in PyTorch": in_pytorch(),
        "python": python(),
    },
    sys.stdout,
)
