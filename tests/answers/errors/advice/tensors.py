"""Texts about the data of tensors, about dtypes, devices and the GPU, and about layouts."""

import pickle

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@tries("no-strides", "Call `x.reshape(…)`", "or `x.contiguous().view(…)`")
def view_of_a_transposed_tensor(advice):
    x = torch.ones(2, 3).t()
    (x.reshape(6) if "reshape" in advice else x.contiguous().view(6) if advice else x.view(6)).sum()


untried("no-strides", "If a layer of PyTorch calls it", "several causes")


@tries("mixed-dtypes", "Else: `x.to(y.dtype)`")
def product_with_a_tensor_of_8_bits(advice):
    x, y = torch.ones(2, 2, dtype=torch.int8), torch.ones(2, 2)
    torch.mm(y, x.to(y.dtype) if advice else x)


untried("mixed-dtypes", "If the tensor of 8 bits is a weight", "needs a package that quantizes")
untried("no-device-module", "Add `is_initialized()` to the module", "needs the package of a backend")
untried("mixed-devices", "If a quantized model is converted", GPU)
untried("not-exported", "Use a newer PyTorch, whose exporter", "needs the packages of the exporter")


untried("mixed-devices", "Move it to {device}", GPU)
untried("not-built", "Compare `torch.cuda.get_arch_list()`", GPU)


untried("no-dtype", "Such a copy is a conversion", "needs a backend without the code")


@tries("no-stub", "Call `x.to_dense()` before", "or leave that module out of `to_mkldnn`")
def batch_norm_of_one_dimension_in_mkldnn(advice):
    x = torch.ones(2, 4) if "leave" in advice else torch.ones(2, 4).to_mkldnn()
    torch.batch_norm(x.to_dense() if "dense" in advice else x, *[torch.ones(4)] * 4, False, 0.1, 1e-5, False)


untried("no-data", "If the program passes none", "needs an older version")
untried("no-data", "Ask `x.defined()` before", "needs C++")


@tries("no-data", "`x.to_dense()` first")
def mkldnn_tensor_pickled(advice):
    x = torch.ones(2).to_mkldnn()
    pickle.dumps(x.to_dense() if advice else x)


untried("no-strides", "`x.to_dense()` first", "needs an older version")
untried("no-strides", "this old one has few operators of sparse tensors", "needs an older version")


@tries("wrong-arguments", "Pass a list, also of one")
def tensor_in_place_of_a_list(advice):
    x = torch.ones(2)
    torch.ops.aten.stack([x] if advice else x)


untried("changed-in-place", "Leave `.data` or `.detach()` out", "needs an older version")
untried("other-text", "Compute with the parts", "needs a GPU")
