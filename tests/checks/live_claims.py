"""A script for a Python that has PyTorch: what happens where the checks say that something does.

It writes JSON.
"""

from __future__ import annotations

import ctypes
import json
import warnings
from typing import Any

import torch

warnings.simplefilter("ignore")
NAMESPACE = "dispatch_cli_claims"
OUTCOMES = {
    "Could not run": "could not run",
}
library = torch.library.Library(NAMESPACE, "DEF")
ran: list[str] = []


def operator(schema: str, **kernels: Any) -> Any:
    """Define an operator with these kernels, each at its key, and give it out for calling."""
    name = schema.partition("(")[0]
    library.define(schema)
    for key, kernel in kernels.items():
        library.impl(name, kernel, key)
    return getattr(getattr(torch.ops, NAMESPACE), name)


def recording(key: str) -> Any:
    def kernel(x: torch.Tensor) -> torch.Tensor:
        ran.append(key)
        return x

    return kernel


def outcome(call: Any) -> str:
    ran.clear()
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:
        return next((word for text, word in OUTCOMES.items() if text in str(error)), str(error))
    return f"runs {ran[-1] if ran else 'it'}"


def counted_writes() -> dict[str, int]:
    """By how much the version of a tensor rises when an operator writes to it."""

    def write(x: torch.Tensor) -> None:
        ctypes.c_float.from_address(x.data_ptr()).value += 1  # past the dispatcher, as a kernel of C++ does it

    def below_autograd(name: str) -> Any:
        def kernel(x: torch.Tensor) -> None:
            with torch._C._AutoDispatchBelowAutograd():
                getattr(getattr(torch.ops, NAMESPACE), name)(x)

        return kernel

    def count(keyset: Any, x: torch.Tensor) -> None:
        torch.autograd.graph.increment_version(x)
        getattr(torch.ops, NAMESPACE).counted.default.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, x)

    schema = "(Tensor(a!) x) -> ()"
    by_hand = operator(f"by_hand{schema}", CPU=write, Autograd=below_autograd("by_hand"))
    counted = operator(f"counted{schema}", CPU=write, Autograd=below_autograd("counted"))
    library.impl("counted", count, "ADInplaceOrView", with_keyset=True)
    outcomes = {}
    for name, called in (("by hand", by_hand), ("counted", counted)):
        tensor = torch.ones(2)
        before = tensor._version
        called(tensor)
        outcomes[name] = tensor._version - before
    return outcomes


def conjugates() -> dict[str, bool]:
    """True for each kernel that gets a tensor with its conjugate bit unresolved."""
    seen = {}

    def look(name: str) -> Any:
        def kernel(x: torch.Tensor) -> torch.Tensor:
            seen[name] = x.is_conj()
            return x.clone()

        return kernel

    plain = operator("plain(Tensor x) -> Tensor", CPU=look("plain"))
    falling = operator("falling(Tensor x) -> Tensor", CPU=look("falling"), Conjugate=torch.library.fallthrough_kernel)
    for called in (plain, falling):
        called(torch.ones(2, dtype=torch.complex64).conj())
    return seen


def batching() -> dict[str, str]:
    """The kernel that torch.vmap runs."""

    def ones(key: str) -> Any:
        def kernel(size: int) -> torch.Tensor:
            ran.append(key)
            return torch.ones(size)

        return kernel

    keys = ("FuncTorchBatched", "FuncTorchBatchedDecomposition")
    factory = operator(
        "factory(int size) -> Tensor",
        CompositeExplicitAutograd=ones("CompositeExplicitAutograd"),
        FuncTorchBatched=ones("FuncTorchBatched"),
    )
    both = operator("both(Tensor x) -> Tensor", CPU=recording("CPU"), **{key: recording(key) for key in keys})
    batch = torch.ones(2, 3)
    return {
        "factory": outcome(lambda: torch.vmap(lambda x: x + factory(3))(batch)),
        "both": outcome(lambda: torch.vmap(both)(batch)),
    }


def python_choices() -> dict[str, str]:
    """The choice of ``resolve_key``, and the kernel that C++ has there."""
    from torch._ops import resolve_key

    key = torch._C.DispatchKey.NestedTensorCPU
    called = operator(
        "nested(Tensor x) -> Tensor",
        CompositeImplicitAutogradNestedTensor=recording("nested"),
        CompositeExplicitAutograd=recording("default"),
    ).default
    meta = operator("meta(Tensor x) -> Tensor", CompositeImplicitAutograd=recording("math")).default
    meta.py_impl(torch._C.DispatchKey.Meta)(recording("meta"))
    try:
        python = str(resolve_key(called, key))
    except NotImplementedError as error:
        python = str(error).partition(" for ")[0]
    has = torch._C._dispatch_has_computed_kernel_for_dispatch_key(f"{NAMESPACE}::nested", "NestedTensorCPU")
    return {
        "nested in C++": str(has),
        "nested in Python": python,
        "AutogradMeta": str(resolve_key(meta, torch._C.DispatchKey.AutogradMeta)),
    }


def gaps() -> dict[str, str]:
    """Forms of operators that PyTorch lacks for nested and sparse tensors."""
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    sparse = torch.eye(3).to_sparse()
    calls = {
        "cos": nested.cos,
        "cos_": nested.cos_,
        "fill_": lambda: nested.fill_(2),
        "fill": lambda: torch.fill(nested, 2),
        "pow": lambda: sparse.pow(2),
        "pow_": lambda: sparse.pow_(2),
    }
    return {name: outcome(call).partition(" it")[0] for name, call in calls.items()}


print(
    json.dumps(
        {
            "writes": counted_writes(),
            "conjugates": conjugates(),
            "batching": batching(),
            "python": python_choices(),
            "gaps": gaps(),
        }
    )
)
