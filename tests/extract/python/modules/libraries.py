import torch
from torch.library import Library, define, fallthrough_kernel, impl, register_fake

lib = Library("pyx_lib", "DEF")
fragment = torch.library.Library("pyx_lib", "FRAGMENT")
cpu = Library("pyx_lib", "IMPL", "CPU")
SIGNATURE = "(Tensor x, *, int n=3) -> Tensor"

lib.define("one" + SIGNATURE)
lib.define(schema="two(Tensor x) -> Tensor", alias_analysis="CONSERVATIVE")
fragment.define("three.over(Tensor(a!) x) -> Tensor(a!)", tags=(torch.Tag.pt2_compliant_tag,))
for letter in "ab":
    lib.define(f"loop_{letter}(Tensor x) -> Tensor")
    for key in ("CUDA", "Meta"):
        lib.impl(f"loop_{letter}", lambda x: x, key)


def kernel(x, *, n=3):
    return x


cpu.impl("one", kernel)
lib.impl("one", kernel, "AutogradCPU", with_keyset=False)
lib.impl(torch.ops.pyx_lib.two.default, kernel)
lib.impl("pyx_lib::two", fallthrough_kernel, "AutocastCUDA")
fragment.impl(torch.ops.pyx_lib.three.over, kernel, dispatch_key="CompositeExplicitAutograd")
lib.impl("one", torch.library.fallthrough_kernel, torch._C.DispatchKey.ADInplaceOrView.name)


@impl(lib, "two", "SparseCPU")
def two_sparse(x):
    return x


@torch.library.impl("pyx_lib::two", ("cuda", "xpu", "SparseCUDA"))
def two_devices(x):
    return x


@define(lib, "legacy(Tensor x) -> Tensor")
def legacy(x):
    return x


torch.library.define("pyx_other::four", "(Tensor x, float f=1e-06) -> (Tensor, Tensor[])")
torch.library.impl("pyx_other::four", "default", kernel)
other = Library("pyx_other", "FRAGMENT")
torch.library.define("pyx_other::five", "(Tensor x) -> Tensor", lib=other)


@register_fake("pyx_other::four")
def four_fake(x, f=1e-6):
    return x, [x]


lib._register_fake("loop_a", kernel) if torch is None else None
torch.library.register_kernel("pyx_other::four", "cpu", kernel)
with torch.library._scoped_library("pyx_lib", "FRAGMENT") as scoped:
    scoped.define("gone(Tensor x) -> Tensor")
    scoped.impl("gone", kernel, "CPU")
