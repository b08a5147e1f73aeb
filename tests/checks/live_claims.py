"""A script for a Python that has PyTorch: what happens where the checks say that something does.

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

warnings.simplefilter("ignore")
NAMESPACE = "dispatch_cli_claims"
MATH = "CompositeImplicitAutograd"
OUTCOMES = {
    "There were no tensor arguments": "no tensors",
    "ambiguous": "ambiguous",
    "has kernels registered to both": "ambiguous",
    "Could not run": "could not run",
    "convolution_overrideable not implemented": "not implemented",
    "automatic differentiation": "refuses gradients",
}
library = torch.library.Library(NAMESPACE, "DEF")
numbers = count()
ran: list[str] = []


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def operator(kernels: dict[str, Any], schema: str = "(Tensor x) -> Tensor") -> Any:
    """An operator with these kernels, each at its key."""
    name = f"op{next(numbers)}"
    library.define(f"{name}{schema}")
    for key, kernel in kernels.items():
        library.impl(name, kernel, key)
    return getattr(getattr(torch.ops, NAMESPACE), name)


def noting(key: str) -> Any:
    """A kernel that notes its key."""

    def kernel(x: torch.Tensor, *_: Any) -> torch.Tensor:
        ran.append(key)
        return x.sin() if key.startswith("Composite") else x.clone()

    return kernel


def outcome(call: Callable[[], Any]) -> str:
    """The kernel that ran first, or the kind of error."""
    ran.clear()
    try:
        call()
    except Exception as error:
        kind = next((word for text, word in OUTCOMES.items() if text in str(error)), None)
        return kind or (ran[0] if ran else " ".join(str(error).split()[:3]))
    return ran[0] if ran else "runs"


def on(device: str, called: Any, dimensions: int = 1) -> str:
    """A call with a tensor of a device that this build may not have: ``runs``, or the error."""
    tensor = torch.Tensor._make_wrapper_subclass(Foreign, (1,) * dimensions, device=device)
    python = DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.PythonTLSSnapshot)
    with torch._C._ExcludeDispatchKeyGuard(python):
        try:
            called(tensor)
        except (RuntimeError, NotImplementedError) as error:
            return next((word for text, word in OUTCOMES.items() if text in str(error)), str(error))
    return "runs"


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
    called = operator({key: noting(key) for key in keys})
    return {
        "plain": outcome(lambda: called(torch.ones(2))),
        "no_grad": outcome(torch.no_grad()(lambda: called(torch.ones(2)))),
        "inference": outcome(lambda: inference(called)),
        "below autograd": outcome(lambda: below_autograd(lambda: called(torch.ones(2)))),
        "custom op": outcome(lambda: in_custom_op(called)),
    }


def counted_writes() -> dict[str, int]:
    """By how much the version of a tensor rises when an operator writes to it."""

    def write(x: torch.Tensor) -> None:
        ctypes.c_float.from_address(x.data_ptr()).value += 1  # past the dispatcher, as a kernel of C++ does it

    def passing_on(x: torch.Tensor) -> None:
        below_autograd(lambda: current[0](x))

    def counting(keyset: Any, x: torch.Tensor) -> None:
        torch.autograd.graph.increment_version(x)
        current[0].default.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, x)

    outcomes, current = {}, [None]
    for name in ("by hand", "counted"):
        current[0] = called = operator({"CPU": write, "Autograd": passing_on}, "(Tensor(a!) x) -> ()")
        if name == "counted":
            library.impl(f"op{next(numbers) - 1}", counting, "ADInplaceOrView", with_keyset=True)
        tensor = torch.ones(2)
        before = tensor._version
        called(tensor)
        outcomes[name] = tensor._version - before
    return outcomes


def derivatives() -> dict[str, Any]:
    """Derivatives under the autograd fallback: of a kernel at CPU, alone and through other operators."""

    def warns(caught: list[warnings.WarningMessage]) -> str:
        return "warns" if any("autograd kernel was not registered" in str(row.message) for row in caught) else ""

    outcomes: dict[str, Any] = {}
    called = operator({"CPU": noting("CPU"), MATH: noting(MATH)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        called(torch.ones(1, requires_grad=True)).sum().backward()
    outcomes["a kernel beside a composite one"] = warns(caught)
    divide = torch.library.Library("aten", "IMPL")
    divide.impl("true_divide.Tensor", torch.div, "CPU")
    value = torch.ones(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.true_divide(value, torch.full((1,), 4.0)).sum().backward()
    divide._destroy()
    outcomes["of other operators"] = [value.grad.tolist(), warns(caught)]  # type: ignore[union-attr]
    return outcomes


def reach() -> dict[str, str]:
    """Calls of operators whose kernels other tensors do not get to."""
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    mtia, hip, xpu = (operator({key: noting(key), MATH: noting(MATH)}) for key in ("MTIA", "HIP", "XPU"))
    of_nested = operator({"NestedTensorCPU": noting("NestedTensorCPU"), MATH: noting(MATH)})
    ambiguous = operator({"SparseCPU": noting("SparseCPU"), "HIP": noting("HIP"), MATH: noting(MATH)})
    return {
        "mtia": outcome(lambda: on("mtia", mtia)),
        "hip": outcome(lambda: on("hip", hip)),
        "xpu": outcome(lambda: on("xpu", xpu)),
        "nested": outcome(lambda: of_nested(nested)),
        "hip, with a sparse kernel": on("hip", ambiguous),
    }


def gaps() -> dict[str, str]:
    """Forms of operators that PyTorch lacks for nested and sparse tensors."""
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    sparse = torch.eye(3).to_sparse()
    called = {
        "cos": nested.cos,
        "cos_": nested.cos_,
        "fill_": lambda: nested.fill_(2),
        "fill": lambda: torch.fill(nested, 2),
        "pow": lambda: sparse.pow(2),
        "pow_": lambda: sparse.pow_(2),
    }
    return {name: outcome(call) for name, call in called.items()}


def in_pytorch() -> dict[str, str]:
    """Operators of PyTorch itself that checks speak of."""
    image, line = torch.ones(1, 1, 4, 4, requires_grad=True), torch.ones(1, 1, 4, requires_grad=True)
    outcomes = {
        "avg_pool2d.out": outcome(lambda: torch.ops.aten.avg_pool2d.out(image, [2], out=torch.empty(1, 1, 2, 2)))
    }
    if "out" in torch.ops.aten.avg_pool1d.overloads():
        outcomes["avg_pool1d.out"] = outcome(lambda: torch.ops.aten.avg_pool1d.out(line, [2], out=torch.empty(1, 1, 2)))
    inner = getattr(torch.ops.export, "access_subclass_inner_tensor", None)
    if inner is not None:
        outcomes["export"] = outcome(lambda: inference(lambda x: inner(x, "x")))
    if hasattr(torch.library.Library, "fallback"):
        fallback = torch.library.Library("_", "IMPL")
        fallback.fallback(noting("fallback"), "PrivateUse1")
        ones, zeros = [1, 1], [0, 0]
        outcomes["convolution under a fallback"] = on(
            "privateuseone", lambda x: torch.ops.aten.convolution(x, x, None, ones, zeros, ones, False, zeros, 1), 4
        )
        fallback._destroy()
    replacing = torch.library.Library("aten", "IMPL")
    replacing.impl("max_pool2d", noting("Autograd"), "Autograd")
    outcomes["max_pool2d's kernel at Autograd"] = outcome(lambda: torch.ops.aten.max_pool2d(image, [2]))
    return outcomes


def autocasts() -> dict[str, list[str]]:
    """Results of a backend's own operator on a tensor of each device, before its autocast is on and while it is."""
    outcomes: dict[str, list[str]] = {}
    devices = {"CPU": "cpu", "CUDA": "cuda", "XPU": "xpu", "XLA": "xla", "HPU": "hpu", "IPU": "ipu"}
    devices["PrivateUse1"] = "privateuseone"
    for key, device in devices.items():
        called = operator(dict.fromkeys((key, f"Autograd{key}"), lambda x: x))
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
    called = operator(dict.fromkeys(("PrivateUse1", "AutogradPrivateUse1"), lambda x: x))

    def call() -> str:
        with torch.autocast("npu"):
            return on("npu", called)

    outcomes = {"otherwise": on("npu", called), "under autocast": call()}
    block = torch._C._dispatch_library("IMPL", "_", "AutocastPrivateUse1")  # type: ignore[call-arg]
    block.fallback_fallthrough()
    return {**outcomes, "with a fallthrough": call()}


def local_libraries() -> dict[str, bool]:
    """Presence of an operator after the end of a function whose local variable holds its library."""
    kept: list[torch.library.Library] = []

    def register(name: str, use: Callable[[torch.library.Library, str], object]) -> None:
        lib = torch.library.Library(f"{NAMESPACE}_{name}", "DEF")
        lib.define("f(Tensor x) -> Tensor")
        use(lib, f"{NAMESPACE}_{name}::f")

    uses: dict[str, Callable[[torch.library.Library, str], object]] = {
        "method": lambda lib, _: lib.impl("f", lambda x: x.clone(), "CPU"),
        "impl": lambda lib, _: torch.library.impl(lib, "f", "CPU")(lambda x: x.clone()),
        "fake": lambda lib, name: torch.library.register_fake(name, lambda x: x.clone(), lib=lib),
        "kept": lambda lib, _: kept.append(lib),
    }
    for name, use in uses.items():
        register(name, use)
    return {name: hasattr(getattr(torch.ops, f"{NAMESPACE}_{name}"), "f") for name in uses}


json.dump(
    {
        "local libraries": local_libraries(),
        "calls": [calls(keys) for keys in json.load(sys.stdin)],
        "writes": counted_writes(),
        "derivatives": derivatives(),
        "reach": reach(),
        "gaps": gaps(),
        "autocasts": autocasts(),
        "in PyTorch": in_pytorch(),
        "out of tree": out_of_tree(),
    },
    sys.stdout,
)
