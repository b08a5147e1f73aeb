"""Operators that PyTorch's Python code registers, to be imported by a capture; as a script, what calls of them run.

usage: PYTHON live_chains.py   (run with the Python that has PyTorch)

Prints for every operator and call the slots whose kernels ran, in order, and the error that the call raised. The
kernels are Python functions, so Python itself says which of them are entered.
"""

import contextlib
import importlib
import json
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
custom_op = torch.library.custom_op
Tensor = torch.Tensor


def copy(x: Tensor) -> Tensor:
    return x.clone()


def write(x: Tensor) -> None:
    x.zero_()


copy.__annotations__ = {"x": Tensor, "return": Tensor}
write.__annotations__ = {"x": Tensor, "return": None}

plain = custom_op("chains::plain", copy, mutates_args=())
faked = custom_op("chains::faked", copy, mutates_args=(), device_types="cpu")
faked.register_fake(torch.empty_like)
derived = custom_op("chains::derived", copy, mutates_args=())
derived.register_autograd(lambda _context, grad: grad)
other = custom_op("chains::other", copy, mutates_args=())
writing = custom_op("chains::writing", write, mutates_args=("x",), device_types="cpu")

library = torch.library.Library("chains", "FRAGMENT")
library.define("defined(Tensor x) -> Tensor")
library.impl("defined", copy, "CPU")
torch.library.register_autograd("chains::defined", lambda _context, grad: grad)
torch.library.register_fake("chains::defined")(torch.empty_like)
if hasattr(torch.library, "register_vmap"):  # from 2.5 on
    derived.register_vmap(lambda _info, dims, x: (derived(x), dims[0]))
    other.register_vmap(lambda _info, dims, x: (x.sin(), dims[0]))
    torch.library.register_vmap("chains::defined", lambda _info, dims, x: (torch.ops.chains.defined(x), dims[0]))


def written(x: Tensor, *, out: Tensor) -> Tensor:
    return out.copy_(x)


written.__annotations__ = {"x": Tensor, "out": Tensor, "return": Tensor}
if hasattr(torch.Tag, "out"):
    custom_op("chains::written", written, mutates_args=("out",), tags=[torch.Tag.out])

OPERATORS = ("plain", "faked", "derived", "other", "writing", "defined")
TENSORS = {
    "cpu": torch.ones(2),
    "cpu requires_grad": torch.ones(2, requires_grad=True),
    "meta": torch.ones(2, device="meta"),
    "inference_mode": torch.ones(2),
    "vmap": torch.ones(2, 2),
}
KERNELS = {
    "autograd_impl": "Autograd{}",
    "adinplaceorview_impl": "ADInplaceOrView",
    "wrapped_func": "FuncTorchBatched",
    "backend_impl": "{}",
    "copy": "{}",
    "meta_kernel": "{}",
}


def chain(operator: str, name: str) -> Any:
    ran: Any = []

    def enter(frame: Any, event: str, _argument: Any) -> None:
        code = frame.f_code
        # of an operator that is not of custom_op, the kernel at CPU is the function itself
        is_kernel = "library" in code.co_filename or (code is copy.__code__ and operator == "defined")
        if event == "call" and is_kernel and code.co_name in KERNELS:
            ran.append(KERNELS[code.co_name].format("Meta" if name == "meta" else "CPU"))

    mode = torch.inference_mode() if name == "inference_mode" else contextlib.nullcontext()
    called = getattr(torch.ops.chains, operator)
    called = torch.vmap(called) if name == "vmap" else called
    raised = None
    with mode:
        sys.setprofile(enter)
        try:
            called(TENSORS[name])
        except Exception as error:
            raised = str(error)
        finally:
            sys.setprofile(None)
    return [ran, raised]


def out_variant() -> Any:
    """The error of the operator that writes to its argument; None where this PyTorch has no such operators."""
    if not hasattr(torch.Tag, "out"):
        return None
    try:
        torch.ops.chains.written(torch.ones(2, requires_grad=True), out=torch.empty(2))
    except RuntimeError as error:
        return str(error)
    return ""


def main() -> None:
    called = {operator: {name: chain(operator, name) for name in TENSORS} for operator in OPERATORS}
    has_rules = hasattr(torch.library, "register_vmap")
    print(json.dumps({"called": called, "written": out_variant(), "has_batching_rules": has_rules}))


if __name__ == "__main__":
    main()
