"""Texts about the data of tensors, about dtypes, devices and the GPU, and about layouts."""

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@tries("no-strides", "Call `x.reshape(…)`", "or `x.contiguous().view(…)`")
def view_of_a_transposed_tensor(advice):
    x = torch.ones(2, 3).t()
    (x.reshape(6) if "reshape" in advice else x.contiguous().view(6) if advice else x.view(6)).sum()


untried("no-strides", "If a layer of PyTorch calls it", "several causes")
untried("mixed-devices", "If a quantized model is converted", GPU)
untried("not-exported", "Use a newer PyTorch, whose exporter", "needs the packages of the exporter")


untried("mixed-devices", "Move it to {device}", GPU)
untried("not-built", "Compare `torch.cuda.get_arch_list()`", GPU)
