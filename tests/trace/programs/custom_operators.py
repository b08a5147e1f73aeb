"""Custom operators: torch.library.custom_op with autograd, fake and CPU kernels, and a Library of its own."""

import warnings

import torch
from torch import Tensor

warnings.simplefilter("ignore")

LIBRARY = torch.library.Library("traced", "DEF")
LIBRARY.define("double(Tensor x) -> Tensor")
LIBRARY.define("scale(Tensor x, float by) -> Tensor")
LIBRARY.define("composed(Tensor x) -> Tensor")
LIBRARY.define("add_one_(Tensor(a!) x) -> Tensor(a!)")


@torch.library.custom_op("traced::shift", mutates_args=())
def shift(x: Tensor, by: float = 1.0) -> Tensor:
    return x + by


@shift.register_fake
def _(x: Tensor, by: float = 1.0) -> Tensor:
    return torch.empty_like(x)


def shift_context(ctx: torch.autograd.function.FunctionCtx, inputs: tuple[Tensor, float], output: Tensor) -> None:
    ctx.by = inputs[1]


def shift_backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
    return gradient * ctx.by, None


shift.register_autograd(shift_backward, setup_context=shift_context)


@torch.library.custom_op("traced::increment", mutates_args={"x"})
def increment(x: Tensor) -> None:
    x.add_(1)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.traced.double(x)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> Tensor:
        return torch.ops.traced.scale(gradient, 2.0)


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1)


MORE = torch.library.Library("traced", "IMPL")
LIBRARY.impl("double", lambda x: x * 2, "CPU")
LIBRARY.impl("double", Double.apply, "Autograd")
LIBRARY.impl("scale", lambda x, by: x.mul(by), "CompositeExplicitAutograd")
LIBRARY.impl("composed", lambda x: torch.ops.traced.scale(torch.ops.traced.double(x), 0.5), "CompositeImplicitAutograd")
LIBRARY.impl("add_one_", lambda x: x.add_(1), "CPU")
MORE.impl("double", torch.empty_like, "Meta")


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(4, requires_grad=True)
    y = torch.ops.traced.composed(shift(x, 3.0)) + Clip.apply(x)
    y.sum().backward()
    plain = torch.zeros(2)
    increment(plain)
    torch.ops.traced.add_one_(plain)
    with torch.no_grad():
        quiet = torch.ops.traced.double(x)
    shape = shift(torch.empty(3, device="meta")).shape
    forgotten = torch.ops.traced.scale(x, 2.0)  # has no autograd kernel: the result has no gradient
    print(x.grad.sum().item(), plain.tolist(), quiet.requires_grad, tuple(shape), forgotten.requires_grad)


if __name__ == "__main__":
    main()
