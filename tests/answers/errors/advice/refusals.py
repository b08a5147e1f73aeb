"""Texts about tensors that a function refuses for their dtype, layout or device, and about machines and builds."""

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"
INTEL_GPU = "needs a GPU of Intel"
COMPILER = "needs nvcc"


@tries("no-dtype", "`torch.finfo(x.dtype).min`, in place of -1e9")
def mask_filled_beyond_half(advice):
    x = torch.ones(2, dtype=torch.half)
    x.masked_fill(torch.tensor([True, False]), torch.finfo(x.dtype).min if advice else -1e9)


@tries("mixed-dtypes", "Convert the mask: `mask.bool()`", "or `mask == 0`")
def mask_of_numbers(advice):
    x, mask = torch.ones(2), torch.tensor([0.0, 1.0])
    mask = mask == 0 if "==" in advice else mask.bool() if advice else mask
    assert x.masked_select(mask).sum() == 1


@tries("mixed-dtypes", "to the dtype of the other, `x.to(y.dtype)`")
def sum_of_float8(advice):
    x, y = torch.ones(2).to(torch.float8_e4m3fn), torch.ones(2)
    assert ((x.to(y.dtype) if advice else x) + y).sum() == 4


@tries("no-strides", "Convert it to a COO tensor before: `x.to_sparse()`")
def indices_of_rows(advice):
    x = torch.eye(2).to_sparse_csr()
    assert (x.to_sparse() if advice else x).indices().shape == (2, 2)


@tries("no-strides", "this one is dense: `x.to_sparse()`")
def indices_of_a_dense_tensor(advice):
    assert (torch.eye(2).to_sparse() if advice else torch.eye(2)).indices().shape == (2, 2)


@tries("no-strides", "Call `x = x.coalesce()` before")
def indices_that_repeat(advice):
    x = torch.sparse_coo_tensor([[0, 0]], [1.0, 1.0], (2,))
    assert (x.coalesce() if advice else x).indices().shape == (1, 1)


@tries("wrong-arguments", "`torch.as_tensor(x)` for lists, numbers and arrays")
def list_among_tensors(advice):
    x = [1.0]
    assert torch.stack([torch.ones(1), torch.as_tensor(x) if advice else x]).sum() == 2


untried("no-dtype", "let Intel's driver emulate it", INTEL_GPU)
untried("not-built", "the linker left torch_cuda out", "needs C++ and CUDA")
untried("no-attention", "FlashAttention 2 takes float16 and bfloat16", GPU)
untried("no-strides", "Call `x.contiguous()` before", "the texts are of CUDA")
untried("other-text", "Lines below, such as those with E40021", "needs the package of a backend")
untried("undefined-symbol", "Take the libtorch with cxx11-abi", "needs C++")
untried("mixed-dtypes", "Convert the tensor to {wanted}", "needs C++")
untried("wrong-arguments", "The text lists the overloads, and the types", "needs a pass that rewrites graphs")


@tries("refused", "Compute with real numbers, such as `x.abs()`", "Else write this part with other operators")
def larger_of_complex_numbers(advice):
    x, y = torch.tensor([3 + 4j]), torch.tensor([1j])
    if "Else" in advice:
        assert torch.where(x.abs() > y.abs(), x, y) == x
    else:
        assert torch.maximum(x.abs(), y.abs()) == 5 if advice else torch.maximum(x, y)


def scale_kernel(x, taken):
    if x.dtype != taken or x.is_sparse:
        words = "does not support sparse tensors" if x.is_sparse else f"only supports {taken}"
        raise RuntimeError(f"torch: scale_kernel {words}")
    return 2 * x


@tries("refused", "Convert the tensors to that dtype before the call", "add the code for this device, dtype or layout")
def kernel_of_half(advice):
    x = torch.ones(2)
    taken = torch.float32 if "add" in advice else torch.half
    assert scale_kernel(x.half() if "that dtype" in advice else x, taken).sum() == 4


@tries("refused", "Convert the tensor before the call: `x.to_dense()`")
def kernel_of_dense_tensors(advice):
    x = torch.ones(2).to_sparse()
    assert scale_kernel(x.to_dense() if advice else x, x.dtype).sum() == 4


@tries("refused", "Convert the tensors before the call, such as `x.float()`")
def kernel_that_has_no_half(advice):
    x = torch.ones(2).half()
    if not advice:
        raise RuntimeError("scale_kernel is not supported for torch.float16")
    assert x.float().sum() == 2


untried("refused", "Move the tensors, and the module, to {device}", GPU)
untried("refused", "to the device that it has code for", GPU)
untried("refused", "Call it on the CPU, where it mostly has code", GPU)
untried("refused", "{kernel_here} has the kernel", "needs a newer PyTorch")
untried("refused", "Use a newer release of what refuses it", "needs a newer PyTorch")
untried("refused", "decompose the operator before", "needs a converter")
