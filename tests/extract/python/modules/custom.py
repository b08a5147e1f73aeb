from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.library import custom_op, register_autograd, register_fake, register_vmap


@custom_op("pyx_custom::sin", mutates_args=())
def my_sin(x: Tensor, n: int = 1) -> Tensor:
    return x.sin()


@my_sin.register_fake
def _(x, n=1):
    return torch.empty_like(x)


@my_sin.register_kernel("cuda")
def sin_cuda(x, n=1):
    return x


def setup(ctx, inputs, output):
    pass


def backward(ctx, grad):
    return grad, None


my_sin.register_autograd(backward, setup_context=setup)


@my_sin.register_vmap
def sin_vmap(info, in_dims, x, n):
    return x, in_dims[0]


@torch.library.custom_op("pyx_custom::add_", mutates_args={"x"}, device_types=["cpu", "cuda"])
def add_(x: Tensor, y: Sequence[Tensor], *, alpha: float = 1.0, flag: bool | None = None) -> None:
    pass


@custom_op("pyx_custom::make", mutates_args=())
def make(size: list[int], device: torch.device) -> Tensor:
    return torch.empty(size, device=device)


@custom_op("pyx_custom::views", mutates_args=(), schema="(Tensor x, int? n=None) -> (Tensor, Tensor)")
def views(x, n=None):
    return x.clone(), x.clone()


register_fake(views)(lambda x, n=None: (x, x))
register_autograd("pyx_custom::views", lambda ctx, a, b: (a, None))


@register_vmap("pyx_custom::views")
def views_vmap(info, in_dims, x, n=None):
    return (x, x), (0, 0)


def direct(x: Tensor) -> tuple[Tensor, int]:
    return x, 1


op = custom_op("pyx_custom::direct", direct, mutates_args="unknown", device_types="cpu")
torch.library.register_kernel(op, "xpu", direct)
torch.library.register_autocast("pyx_custom::sin", "cuda", torch.float16)
