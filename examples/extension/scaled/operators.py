"""The operators in Python."""

import torch
from torch.library import Library, custom_op, register_autograd, register_fake

library = Library("scaled", "FRAGMENT")
library.define("clip(Tensor self, float limit) -> Tensor")


@torch.library.impl(library, "clip", "CompositeExplicitAutograd")
def clip(self, limit):
    return self.clamp(-limit, limit)


@register_fake("scaled::clip")
def clip_fake(self, limit):
    return torch.empty_like(self)


def clip_backward(ctx, gradient):
    return gradient * ctx.mask, None


def clip_setup(ctx, inputs, output):
    ctx.mask = inputs[0].abs() <= inputs[1]


register_autograd("scaled::clip", clip_backward, setup_context=clip_setup)


@custom_op("scaled::shift", mutates_args=())
def shift(x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x + by


@shift.register_fake
def _(x, by=1.0):
    return torch.empty_like(x)


@custom_op("scaled::fill_", mutates_args={"x"}, device_types="cpu")
def fill_(x: torch.Tensor, value: float) -> None:
    x.fill_(value)


# One function for several operators and keys
for name in ("add", "mul_"):
    library.impl(name, torch.library.fallthrough_kernel, "AutocastXPU")
