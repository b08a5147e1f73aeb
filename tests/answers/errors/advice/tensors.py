"""Texts about the data of tensors, about dtypes, devices and the GPU, and about layouts."""

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@tries("other-data", "`module.weight = nn.Parameter(y)`", "`torch.utils.swap_tensors(x, y)`")
def data_of_another_layout(advice):
    layer, y = torch.nn.Linear(2, 2, bias=False), torch.eye(2).to_sparse()
    if "module" in advice:
        layer.weight = torch.nn.Parameter(y)
    elif advice:
        torch.utils.swap_tensors(layer.weight, torch.nn.Parameter(y))
    else:
        layer.weight.data = y
    assert layer.weight.layout is torch.sparse_coo


untried("other-data", "Move a module by", GPU)


@tries("no-dtype", "Keep the parameters in float32", "`GradScaler(enabled=False)`")
def scaler_of_half_gradients(advice):
    layer = torch.nn.Linear(2, 1).to(torch.float if "float32" in advice else torch.bfloat16 if advice else torch.half)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled="False" not in advice)
    with torch.autocast("cpu", dtype=torch.float16, enabled="float32" in advice):
        y = layer(torch.ones(1, 2, dtype=layer.weight.dtype))
    scaler.scale(y.sum()).backward()
    scaler.step(optimizer)


@tries("no-dtype", "`torch.finfo(x.dtype).min`, in place of -1e9")
def mask_filled_beyond_half(advice):
    x = torch.ones(2, dtype=torch.half)
    x.masked_fill(torch.tensor([True, False]), torch.finfo(x.dtype).min if advice else -1e9)


@tries("no-strides", "Call `x.reshape(…)`", "or `x.contiguous().view(…)`")
def view_of_a_transposed_tensor(advice):
    x = torch.ones(2, 3).t()
    (x.reshape(6) if "reshape" in advice else x.contiguous().view(6) if advice else x.view(6)).sum()


untried("no-strides", "If a layer of PyTorch calls it", "several causes")
untried("other-data", "Leave `.data` out", "needs an older version")
untried("mixed-devices", "If a quantized model is converted", GPU)
untried("backward-call", "Call `model.train()` before the forward", GPU)
untried("not-exported", "Use a newer PyTorch, whose exporter", "needs the packages of the exporter")


@tries("no-strides", "Call `x.contiguous()` before")
def memory_of_a_transposed_tensor(advice):
    x = torch.ops.quantized.embedding_bag_byte_prepack(torch.ones(4, 4)).t().contiguous().t()
    rows = torch.ops.quantized.embedding_bag_byte_rowwise_offsets
    rows(x.contiguous() if advice else x, torch.tensor([0, 1]), torch.tensor([0]))


@tries("mixed-devices", "Move it to ")
def lengths_on_another_device(advice):
    lengths = torch.tensor([2, 1], device="cpu" if advice else "meta")
    torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2, 1), lengths)


untried("not-built", "Move the tensors to the GPU; if they are there", GPU)


@tries("changed-in-place", "or change a copy, `x.clone()`")
def expanded_tensor_changed(advice):
    x = torch.ones(1).expand(2)
    assert (x.clone() if advice else x).add_(1).sum() == 4


@tries("wrong-arguments", "Find out why the list is empty, and skip the call")
def list_without_tensors(advice):
    tensors = []
    if tensors or not advice:
        torch.stack(tensors)


untried("other-text", "Where names in the condition are", "a diagnosis")
untried("mixed-devices", "Move it to {device}", GPU)
untried("not-built", "Compare `torch.cuda.get_arch_list()`", GPU)
