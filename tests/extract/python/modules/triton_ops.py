import torch
from torch.library import triton_op


@triton_op("pyx_triton::mul", mutates_args={})
def mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x


@mul.register_kernel("cpu")
def mul_cpu(x, y):
    return x * y


@torch.library.register_fake("pyx_triton::mul")
def mul_fake(x, y):
    return x
