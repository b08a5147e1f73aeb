"""A script for a Python that has PyTorch: which kernels run, and with what result, where the checks of calls say so.

It reads the keys of random operators from standard input, JSON, and writes JSON: claim → what happened.
"""

from __future__ import annotations

import ctypes
import json
import sys
import types
import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet
from torch.func import grad, jvp, vmap

warnings.simplefilter("ignore")
NAMESPACE = "dispatch_cli_call_claims"
library = torch.library.Library(NAMESPACE, "DEF")
numbers = count()
ran: list[str] = []


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def operator(keys: list[str], kernel: Callable[[str], Any]) -> Any:
    name = f"op{next(numbers)}"
    library.define(f"{name}(Tensor x) -> Tensor")
    for key in keys:
        library.impl(name, kernel(key), key)
    return getattr(getattr(torch.ops, NAMESPACE), name)


def noting(key: str) -> Any:
    def kernel(x: torch.Tensor) -> torch.Tensor:
        ran.append(key)
        return x.sin() if key.startswith("Composite") else x.clone()

    return kernel


def giving_back(_: str) -> Any:
    return lambda x: x


def first(call: Callable[[], Any]) -> str:
    """The kernel that ran first, or the kind of error."""
    ran.clear()
    try:
        call()
    except Exception as error:
        return ran[0] if ran else " ".join(str(error).split()[:3])
    return ran[0] if ran else "none"


def below_autograd(call: Callable[[], Any]) -> Any:
    with torch._C._AutoDispatchBelowAutograd():
        return call()


def inference(call: Callable[[torch.Tensor], Any]) -> Any:
    with torch.inference_mode():
        return call(torch.ones(2))


def in_custom_op(called: Any) -> Any:
    """The operator called by the kernel of a custom one."""
    name = f"{NAMESPACE}::outer{next(numbers)}"

    def outer(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = called(x)
        return result

    return torch.library.custom_op(name, mutates_args=(), schema="(Tensor x) -> Tensor")(outer)(torch.ones(2))


def calls(keys: list[str]) -> dict[str, str]:
    """The kernel of an operator that runs first, by context."""
    called, batch = operator(keys, noting), torch.ones(2, 3)
    return {
        "plain": first(lambda: called(torch.ones(2))),
        "no_grad": first(torch.no_grad()(lambda: called(torch.ones(2)))),
        "inference": first(lambda: inference(called)),
        "below autograd": first(lambda: below_autograd(lambda: called(torch.ones(2)))),
        "custom op": first(lambda: in_custom_op(called)),
        "vmap": first(lambda: vmap(called)(batch)),
        "vmap(grad)": first(lambda: vmap(grad(lambda x: called(x).sum()))(batch)),
        "vmap(jvp)": first(lambda: vmap(lambda x: jvp(called, (x,), (x,)))(batch)),
        "grad(vmap)": first(lambda: grad(lambda x: vmap(called)(x).sum())(batch)),
    }


def on(device: str, called: Any) -> str:
    tensor = torch.Tensor._make_wrapper_subclass(Foreign, (2,), device=device)
    python = DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.PythonTLSSnapshot)
    with torch._C._ExcludeDispatchKeyGuard(python):
        try:
            called(tensor)
        except (RuntimeError, NotImplementedError) as error:
            return str(error).partition(". ")[0]
    return "works"


def autocasts() -> dict[str, Any]:
    """Results of a backend's own operator on a tensor of each device, before its autocast is on and while it is."""
    outcomes: dict[str, Any] = {}
    devices = {"CPU": "cpu", "CUDA": "cuda", "XPU": "xpu", "XLA": "xla", "HPU": "hpu", "IPU": "ipu"}
    devices["PrivateUse1"] = "privateuseone"
    for key, device in devices.items():
        called = operator([key, f"Autograd{key}"], giving_back)
        before = on(device, called)
        torch.set_autocast_enabled(device, True)
        outcomes[device] = [before, on(device, called)]
        torch.set_autocast_enabled(device, False)
    return outcomes


def out_of_tree() -> dict[str, str]:
    """A backend with a name and a module of its own under ``torch.autocast``, then with what the check advises."""
    module = types.ModuleType("npu")
    module.get_amp_supported_dtype = lambda: [torch.float16]  # type: ignore[attr-defined]
    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", module)
    called = operator(["PrivateUse1", "AutogradPrivateUse1"], giving_back)

    def call() -> str:
        with torch.autocast("npu"):
            return on("npu", called)

    outcomes = {"otherwise": on("npu", called), "under autocast": call()}
    block = torch._C._dispatch_library("IMPL", "_", "AutocastPrivateUse1")  # type: ignore[call-arg]
    block.fallback_fallthrough()
    return {**outcomes, "with a fallthrough": call()}


def memory(x: torch.Tensor) -> list[complex]:
    """Contents of a tensor's memory, as read by a C++ kernel that ignores the conjugate and negative bits."""
    cells = (ctypes.c_float * (2 * x.numel())).from_address(x.data_ptr())
    return [complex(*cells[i : i + 2]) for i in range(0, 2 * x.numel(), 2)]


def bits() -> dict[str, Any]:
    """The results of a kernel that reads memory, with PyTorch's fallbacks and with fallthroughs in their place."""
    outcomes: dict[str, Any] = {}
    tensor = torch.tensor([1 + 2j, 3 - 4j])
    given = {"Conjugate": tensor.conj(), "Negative": torch._neg_view(tensor)}
    for key, bit in given.items():
        for falls in (False, True):
            called = operator(["CPU"], lambda _: lambda x: torch.tensor(memory(x)))
            if falls:
                library.impl(f"op{next(numbers) - 1}", torch.library.fallthrough_kernel, key)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = called(bit)
            outcomes[f"{key}{' falls through' if falls else ''}"] = [bool((result == bit).all()), len(caught)]
    zero = torch._efficientzerotensor((2,), dtype=torch.complex64)
    for falls in (False, True):
        called = operator(["CPU"], lambda _: lambda x: torch.ones(2) * (x.data_ptr() == 0))
        if falls:
            library.impl(f"op{next(numbers) - 1}", torch.library.fallthrough_kernel, "ZeroTensor")
        outcomes[f"ZeroTensor{' falls through' if falls else ''}"] = called(zero).tolist() == [1, 1]
    return outcomes


def one_hot() -> dict[str, str]:
    """PyTorch's own composite operator with a batching rule."""
    batch, index = torch.ones(2, 3), torch.tensor([[0, 1], [1, 2]])
    hot = torch.ops.aten.one_hot
    return {
        "vmap": first(lambda: vmap(lambda y: hot(y, 4))(index)),
        "vmap(grad)": first(lambda: vmap(grad(lambda x, y: x.sum() * hot(y, 4).sum()))(batch, index)),
    }


json.dump(
    {
        "calls": [calls(keys) for keys in json.load(sys.stdin)],
        "bits": bits(),
        "one_hot": one_hot(),
        "autocasts": autocasts(),
        "out of tree": out_of_tree(),
    },
    sys.stdout,
)
