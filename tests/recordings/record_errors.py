"""Record the error texts of a live PyTorch whose dispatcher finds nothing to run, with what was called.

usage: python record_errors.py OUT.json.xz [SEED]   (run with the Python that has torch)

The operators of the namespace "broken" are those of tests/answers/broken.yaml.
"""

import json
import lzma
import os
import random
import sys
import tempfile
import traceback
import warnings

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode

C, DK = torch._C, torch._C.DispatchKey
PYTHON = os.path.dirname(os.__file__) + "/"
SITE = os.path.dirname(os.path.dirname(torch.__file__)) + "/"
HERE = os.path.dirname(os.path.abspath(__file__)) + "/"
PAIRS = 24
"""Pairs of an operator of PyTorch and a key without a kernel of it."""


def broken():
    """The operators that have something missing."""
    library = torch.library.Library("broken", "DEF")

    def define(schema, **kernels):
        library.define(schema)
        for key, kernel in kernels.items():
            library.impl(schema.partition("(")[0], kernel, key)

    def clone(x):
        return x.clone()

    define("cuda_only(Tensor x) -> Tensor", CUDA=clone)
    define("cuda_only.over(Tensor x, int n) -> Tensor", CUDA=lambda x, n: x.clone())
    define("scale(Tensor x) -> Tensor", CPU=lambda x: x * 2)
    define("filled(int n) -> Tensor", CPU=lambda n: torch.zeros(n))
    define("joined(Tensor[] xs) -> Tensor", CPU=lambda xs: xs[0].clone())
    define("mix(Tensor x) -> Tensor", MkldnnCPU=clone, CompositeImplicitAutograd=clone)
    define("nested(Tensor x) -> Tensor", NestedTensorCPU=clone, CompositeImplicitAutogradNestedTensor=clone)
    return library


def called(call):
    """Output of a call: its traceback, its warnings, and what C++ writes to standard error."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call()
                    text = ""
                except Exception:
                    text = traceback.format_exc()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        written = file.read().decode()
    shown = "".join(warnings.formatwarning(item.message, item.category, item.filename, item.lineno) for item in caught)
    return (written + shown + text).replace(SITE, "site-packages/").replace(HERE, "").replace(PYTHON, "python/")


def with_python_dispatcher(call):
    def inner():
        with enable_python_dispatcher():
            call()

    return inner


def with_fake_tensors(call):
    def inner():
        with FakeTensorMode():
            call()

    return inner


def backward():
    torch.ops.broken.scale(torch.ones(2, requires_grad=True)).sum().backward()


def cases(ops):
    """(operator, key, call)"""
    tensor = torch.ones(2)
    yield "broken::cuda_only", "CPU", lambda: ops.cuda_only(tensor)
    yield "broken::cuda_only.over", "CPU", lambda: ops.cuda_only(tensor, 2)
    yield "broken::scale", "Meta", lambda: ops.scale(torch.ones(2, device="meta"))
    yield "broken::filled", "Undefined", lambda: ops.filled(3)
    yield "broken::joined", "Undefined", lambda: ops.joined([])
    yield "broken::mix", "AutogradOther", lambda: ops.mix(torch.ones(2).to_mkldnn())
    yield "broken::scale", None, backward
    yield "broken::cuda_only", "CPU", with_python_dispatcher(lambda: ops.cuda_only(tensor))
    yield "broken::scale", "Meta", with_fake_tensors(lambda: ops.scale(torch.ones(2)))
    nested = torch.nested.nested_tensor([tensor])
    yield "broken::nested", "AutogradNestedTensor", with_python_dispatcher(lambda: ops.nested(nested))
    yield "broken::scale", "FuncTorchBatched", lambda: torch.vmap(ops.scale)(torch.ones(2, 2))
    yield "aten::cumsum", "NestedTensorCPU", lambda: nested.cumsum(0)
    yield "aten::cumsum.out", "QuantizedCPU", lambda: torch.quantize_per_tensor(tensor, 1.0, 0, torch.qint8).cumsum(0)


def parses(key):
    """True if PyTorch's parser knows the name of a key."""
    try:
        C._dispatch_key_parse(key)
    except RuntimeError:
        return False
    return hasattr(DK, key)


def pairs(seed):
    """(operator, key, call) of operators of PyTorch that take a tensor, at random keys where they have nothing."""
    chosen = random.Random(seed)
    full = str(C._dispatch_keyset_full()).split("(", 1)[1].rstrip(")").split(", ")
    # Autocast keys are left out: most operators have nothing there
    keys = [key for key in full if parses(key) and not key.startswith("Autocast")]
    names = [name for name in C._dispatch_get_all_op_names() if name.startswith("aten::")]
    count = 0
    while count < PAIRS:
        name = chosen.choice(names)
        packet, _, overload = name.removeprefix("aten::").partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        required = [argument for argument in operator._schema.arguments if not argument.has_default_value()]
        if [str(argument.type) for argument in required] != ["Tensor"]:
            continue
        missing = [key for key in keys if not C._dispatch_has_computed_kernel_for_dispatch_key(name, key)]
        if not missing:
            continue
        key = chosen.choice(missing)
        kwargs = {required[0].name: torch.ones(2)} if required[0].kwarg_only else {}
        args = () if kwargs else (torch.ones(2),)

        def call(operator=operator, key=key, args=args, kwargs=kwargs):
            operator.redispatch(C.DispatchKeySet(getattr(DK, key)), *args, **kwargs)

        count += 1
        yield name, key, call


def main(out, seed=1):
    library = broken()
    errors = [
        {"operator": operator, "key": key, "text": called(call)}
        for operator, key, call in [*cases(torch.ops.broken), *pairs(seed)]
    ]
    data = {"torch": torch.__version__, "errors": errors}
    with lzma.open(out, "wt") if out.endswith(".xz") else open(out, "w") as file:
        json.dump(data, file)
    sys.stdout.flush()
    del library
    # PyTorch's own teardown of Python kernels is no part of this
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
