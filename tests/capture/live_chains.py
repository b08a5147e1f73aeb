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
derived.register_vmap(lambda _info, dims, x: (derived(x), dims[0]))
other = custom_op("chains::other", copy, mutates_args=())
other.register_vmap(lambda _info, dims, x: (x.sin(), dims[0]))
writing = custom_op("chains::writing", write, mutates_args=("x",), device_types="cpu")

library = torch.library.Library("chains", "FRAGMENT")
library.define("defined(Tensor x) -> Tensor")
library.impl("defined", copy, "CPU")
torch.library.register_autograd("chains::defined", lambda _context, grad: grad)
torch.library.register_fake("chains::defined")(torch.empty_like)
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
func = torch.func


def grad(called: Any) -> Any:
    return func.grad(lambda x: called(x).sum())


def grad_of_other(called: Any) -> Any:
    """Call the operator with a tensor that is no input of the transform."""
    return lambda x: func.grad(lambda y: (called(x), y.sum())[1])(x)


def without_gradients(called: Any) -> Any:
    return torch.no_grad()(lambda x: called(x))


def grad_without(called: Any) -> Any:
    return func.grad(lambda x: (without_gradients(called)(x), x.sum())[1])


TRANSFORMS = {
    "grad": grad,
    "vmap grad": lambda called: torch.vmap(grad(called)),
    "grad vmap": lambda called: grad(torch.vmap(called)),
    "jvp": lambda called: lambda x: func.jvp(called, (x,), (x,)),
    "grad jvp": lambda called: grad(lambda x: func.jvp(called, (x,), (x,))[0]),
    "jvp grad": lambda called: lambda x: func.jvp(grad(called), (x,), (x,)),
    "grad grad": lambda called: grad(grad(called)),
    "functionalize": func.functionalize,
    "vmap functionalize": lambda called: torch.vmap(func.functionalize(called)),
    "functionalize grad": lambda called: func.functionalize(grad(called)),
    "vmap grad vmap": lambda called: torch.vmap(grad(torch.vmap(called))),
    "grad of another": grad_of_other,
    "grad grad of another": lambda called: grad(grad_of_other(called)),
    "no_grad grad": lambda called: without_gradients(grad(called)),
    "grad no_grad": grad_without,
    "grad grad no_grad": lambda called: grad(grad_without(called)),
    "grad no_grad grad": lambda called: func.grad(lambda x: (without_gradients(grad(called))(x), x.sum())[1]),
    "grad no_grad grad of another": lambda called: func.grad(
        lambda x: (without_gradients(grad_of_other(called))(x), x.sum())[1]
    ),
    "inference_mode grad": lambda called: torch.inference_mode()(lambda x: grad(called)(x)),
}
"""Transforms around an operator, the outermost first."""
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
    called = TRANSFORMS[name](called) if name in TRANSFORMS else called
    given = torch.ones(2, 2, 2) if name in TRANSFORMS else TENSORS[name]
    raised = None
    with mode:
        sys.setprofile(enter)
        try:
            called(given)
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
    in_transforms = ("plain", "derived", "defined")
    transformed = {operator: {name: chain(operator, name) for name in TRANSFORMS} for operator in in_transforms}
    print(json.dumps({"called": called, "transformed": transformed, "written": out_variant()}))


if __name__ == "__main__":
    main()
