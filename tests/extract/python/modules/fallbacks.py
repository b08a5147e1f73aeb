import torch
from torch.library import Library

lib = Library("_", "IMPL", "AutogradPrivateUse3")
lib.fallback(torch.library.fallthrough_kernel)
aten = Library("aten", "IMPL")


@torch.library.impl(aten, "add.Tensor", "PrivateUse3")
def add(x, y, *, alpha=1):
    return x


for overload in [torch.ops.aten.mul.Tensor, torch.ops.aten.relu.default]:
    aten.impl(overload, add, "PrivateUse3")


@torch.ops.aten.div.Tensor.py_impl(torch._C.DispatchKey.PrivateUse3)
def div(x, y):
    return x
