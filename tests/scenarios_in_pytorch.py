"""Answers of PyTorch itself in those scenarios that it can be put into on any machine; as JSON.

usage: PYTHON scenarios_in_pytorch.py   (run with the Python that has PyTorch)
"""

import json
import os
import sys
import warnings

import torch

libraries = [torch.library.Library(name, "DEF") for name in ("mylib", "demo")]
ran = []


def define(schema, **kernels):
    """An operator of a scenario: its schema, and the names of its kernels by key."""
    namespace, _, rest = schema.partition("::")
    library = libraries[("mylib", "demo").index(namespace)]
    library.define(rest)
    for key, name in kernels.items():

        def kernel(*args, name=name):
            ran.append(name)
            return args[0].clone()

        library.impl(rest.partition("(")[0], kernel, key)


def outcome(call):
    """The kernels of ours that ran, then the first line of the error or of the warning, where there is one."""
    ran.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return [*ran, str(error).splitlines()[0]]
    return [
        *ran,
        *(str(warning.message).splitlines()[0] for warning in caught if "autograd kernel" in str(warning.message)),
    ]


def in_inference_mode(call):
    def inner():
        with torch.inference_mode():
            call()

    return inner


def slot(operator, key):
    """The rule by which PyTorch fills a slot; None for a missing one."""
    lines = torch._C._dispatch_dump_table(operator).splitlines()
    return next((line.rpartition(" [")[2].rstrip("]") for line in lines if line.startswith(f"{key}: ")), None)


def backends():
    """Registrations of the backends of the first four scenarios; the slots before and after."""
    slots = {
        "01": ("aten::to.dtype", "AutogradPrivateUse1"),
        "02": ("aten::var.dim", "AutogradXLA"),
        "03": ("aten::convolution", "PrivateUse1"),
        "03 uncovered": ("aten::im2col", "PrivateUse1"),
        "04": ("aten::linalg_vector_norm", "SparseXPU"),
        "04 nested": ("aten::bmm", "NestedTensorXPU"),
    }
    before = {name: slot(*one) for name, one in slots.items()}
    aten = torch.library.Library("aten", "IMPL")
    fallbacks = torch._C._dispatch_library("IMPL", "_", "PrivateUse1")
    for operator, key in (
        ("to.dtype", "PrivateUse1"),
        ("var.dim", "XLA"),
        ("bmm", "XPU"),
        ("linalg_vector_norm", "XPU"),
    ):
        aten.impl(operator, lambda *_: None, key)
    fallbacks.fallback_fallthrough()
    libraries.extend((aten, fallbacks))
    return {name: [before[name], slot(*one)] for name, one in slots.items()}


define("mylib::scale(Tensor x, float factor) -> Tensor", CPU="scale_cpu")
define("mylib::filled(SymInt[] size, *, Device device) -> Tensor", CPU="filled_cpu")
define(
    "mylib::mix(Tensor x, Tensor y) -> Tensor",
    MkldnnCPU="mix_mkldnn",
    QuantizedCPU="mix_quantized",
    CompositeImplicitAutograd="mix_math",
)
define("demo::shrink(Tensor x) -> Tensor", CompositeExplicitAutograd="shrink_lowering", Autograd="shrink_decomposition")
define("mylib::norm(Tensor x) -> Tensor", SparseCPU="norm_sparse", CompositeImplicitAutograd="norm_math")

one, ops = torch.ones(2), torch.ops
print(
    json.dumps(
        {
            "slots": backends(),
            "05": outcome(lambda: ops.mylib.scale(torch.ones(2, requires_grad=True), 2.0).sum().backward()),
            "06": outcome(lambda: ops.mylib.filled([2], device="cpu")),
            "08": outcome(lambda: ops.mylib.mix(one.to_mkldnn(), one.to_mkldnn())),
            "09": outcome(in_inference_mode(lambda: ops.demo.shrink(torch.ones(2)))),
            "09 with autograd": outcome(lambda: ops.demo.shrink(one)),
            "10": outcome(lambda: ops.mylib.norm(one.to_sparse())),
            "10 in inference mode": outcome(in_inference_mode(lambda: ops.mylib.norm(torch.ones(2).to_sparse()))),
        }
    )
)
sys.stdout.flush()
os._exit(0)  # PyTorch's own teardown of Python kernels is no part of this
