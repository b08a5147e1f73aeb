"""Libraries that PyTorch destroys before the module has been imported, and some that it does not."""

import functools

import torch
from torch.library import Library

KEPT = []


def same(x):
    return x


def local():
    lib = Library("pyx_ended", "FRAGMENT")
    lib.define("local(Tensor x) -> Tensor")
    lib.impl("local", same, "CPU")


def kept(name):
    lib = Library("pyx_kept", "FRAGMENT")
    lib.define(f"{name}(Tensor x) -> Tensor")
    KEPT.append(lib)


def in_a_closure():
    lib = Library("pyx_kept", "FRAGMENT")
    lib.define("closure(Tensor x) -> Tensor")

    def kernel(x):
        return lib.ns and x

    lib.impl("closure", kernel, "CPU")


@functools.cache
def cached():
    return Library("pyx_kept", "FRAGMENT")


class Holder:
    def __init__(self):
        self.lib = Library("pyx_kept", "FRAGMENT")
        self.lib.define("held(Tensor x) -> Tensor")


local()
kept("listed")
in_a_closure()
cached().define("cached(Tensor x) -> Tensor")
holder = Holder()
del holder
holder = Holder()
Library("pyx_ended", "FRAGMENT").define("at_once(Tensor x) -> Tensor")

again = Library("pyx_again", "FRAGMENT")
again.define("once(Tensor x) -> Tensor")
again.impl("once", same, "CPU")
del again
again = Library("pyx_again", "FRAGMENT")
again.define("once(Tensor x, int y) -> Tensor")
again._destroy()
for number in range(3):
    again = Library("pyx_again", "FRAGMENT")
    again.define(f"once(Tensor x, float y{number}) -> Tensor")

add = torch.ops.aten.sub.Tensor
add.py_impl(torch._C.DispatchKey.PrivateUse3)(same)
add.py_kernels.pop(torch._C.DispatchKey.PrivateUse3)
add.py_impl(torch._C.DispatchKey.PrivateUse3)(same)
del add.py_kernels[torch._C.DispatchKey.PrivateUse3]
