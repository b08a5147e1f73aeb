"""Texts about the machine: GPUs, compilers, and builds that this one may not have."""

import torch
import torch._inductor.config

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"
OTHER_BUILD = "needs another build"


@tries("no-data", "A sparse tensor, or one of oneDNN: call `x.to_dense()` before")
def address_of_a_sparse_tensor(advice):
    x = torch.eye(2).to_sparse()
    assert (x.to_dense() if advice else x).data_ptr()


@tries("no-dtype", "Convert the tensors to a dtype that it takes")
def mean_of_integers(advice):
    x = torch.tensor([1, 2])
    assert (x.float() if advice else x).mean() == 1.5


@tries("backward-call", "`x.float().requires_grad_()`", "`nn.Parameter(x, requires_grad=False)`")
def integers_that_require_a_gradient(advice):
    x = torch.ones(2, dtype=torch.long)
    if "Parameter" in advice:
        torch.nn.Parameter(x, requires_grad=False)
    else:
        (x.float() if advice else x).requires_grad_()


@tries("no-dtype", "Invert a mask by `~x`", "compare two by `x ^ y`", "convert to numbers before, `x.int()`")
def bool_subtracted(advice):
    x, y = torch.tensor([True]), torch.tensor([False])
    if "Invert" in advice:
        assert not (~x).any()
    elif "compare" in advice:
        assert (x ^ y).all()
    else:
        assert (x.int() - y.int() if advice else x - y) == 1


@tries("mixed-dtypes", "Convert the integers, `x.to(y.dtype)`")
def product_of_integers(advice):
    x, y = torch.ones(2, 2, dtype=torch.long), torch.eye(2)
    if advice:
        x = x.to(y.dtype)
    assert (x @ y).sum() == 4


@tries("mixed-dtypes", "Convert the tensor of ")
def batch_of_products(advice):
    x, y = torch.ones(1, 2, 2), torch.ones(1, 2, 2, dtype=torch.int64)
    torch.bmm(x, y.float() if advice else y)


@tries("mixed-dtypes", "Make both complex, a layer by `dtype=torch.complex64`")
def complex_input(advice):
    layer = torch.nn.Linear(2, 2, dtype=torch.complex64 if advice else None)
    layer(torch.ones(1, 2, dtype=torch.complex64))


untried("mixed-devices", "an offload of accelerate", "needs accelerate")
untried("no-sharding", "With fully_shard, parameters are ordinary tensors only", "needs several processes")


untried("no-library-file", "A program that is not Python", "needs a program in C++")
untried("not-built", "Import the package of the backend first", OTHER_BUILD)
untried("no-library-file", "is only in builds of PyTorch with CUDA", OTHER_BUILD)
untried("no-library-file", "are not sought in PATH", "needs Windows")
untried("mixed-dtypes", "convert it to the dtype of the prediction", "needs an older version")
untried("wrong-arguments", "a result not computed, or an argument that was left out", "a diagnosis")
untried("not-defined", "Install the PyTorch for which the program", OTHER_BUILD)
untried("not-exported", "A newer PyTorch or onnxscript may have one", OTHER_BUILD)
