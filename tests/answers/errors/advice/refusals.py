"""Texts about tensors that a function refuses for their dtype, layout or device, and about machines and builds."""

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"
INTEL_GPU = "needs a GPU of Intel"
COMPILER = "needs nvcc"
INSTALLATION = "needs another installation"
DIAGNOSIS = "something to look at"


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


@tries("no-strides", "leave it out for other tensors", "torch.channels_last_3d for 5")
def channels_last_of_volumes(advice):
    x = torch.ones(1, 2, 2, 2, 2)
    if "leave" not in advice:
        x.to(memory_format=torch.channels_last_3d if advice else torch.channels_last)


@tries("no-strides", "Convert it to a COO tensor before: `x.to_sparse()`")
def indices_of_rows(advice):
    x = torch.eye(2).to_sparse_csr()
    assert (x.to_sparse() if advice else x).indices().shape == (2, 2)


@tries("no-strides", "this one is dense: `x.to_sparse()`")
def indices_of_a_dense_tensor(advice):
    assert (torch.eye(2).to_sparse() if advice else torch.eye(2)).indices().shape == (2, 2)


@tries("no-strides", "Give the dense one first, `dense + sparse`")
def sparse_plus_dense(advice):
    x, y = torch.eye(2).to_sparse(), torch.ones(2, 2)
    assert (y + x if advice else x + y).sum() == 6


@tries("no-strides", "Create the embedding with `sparse=False`", "or use SparseAdam, SGD or Adagrad")
def sparse_gradients(advice):
    layer = torch.nn.Embedding(3, 2, sparse="False" not in advice)
    kind = torch.optim.SparseAdam if "SparseAdam" in advice else torch.optim.Adam
    optimizer = kind(layer.parameters())
    layer(torch.tensor([0])).sum().backward()
    optimizer.step()


@tries("no-strides", "Call `x = x.coalesce()` before")
def indices_that_repeat(advice):
    x = torch.sparse_coo_tensor([[0, 0]], [1.0, 1.0], (2,))
    assert (x.coalesce() if advice else x).indices().shape == (1, 1)


@tries("wrong-arguments", "`torch.as_tensor(x)` for lists, numbers and arrays")
def list_among_tensors(advice):
    x = [1.0]
    assert torch.stack([torch.ones(1), torch.as_tensor(x) if advice else x]).sum() == 2


untried("no-dtype", "let Intel's driver emulate it", INTEL_GPU)
untried("no-stub", "Many GPUs before Ampere take no bfloat16", GPU)
untried("no-stub", "Compare sizes and dtypes of the matrices", DIAGNOSIS)
untried("no-stub", "Take other CUDA libraries out of LD_LIBRARY_PATH", INSTALLATION)
untried("no-stub", "Look for an index or a label that is too large", DIAGNOSIS)
untried("no-stub", "`with torch.backends.mkldnn.flags(enabled=False):`", "the text is of other processors")
untried("no-stub", "Use what it has: another dtype", GPU)
untried("no-stub", "`torch.backends.cuda.enable_cudnn_sdp(False)`", GPU)
untried("not-built", "the linker left torch_cuda out", "needs C++ and CUDA")
untried("not-built", "Take a build of PyTorch that has it", INSTALLATION)
untried("no-gpu", "Install a newer driver", GPU)
untried("no-gpu", "Check that the machine or container has a GPU", DIAGNOSIS)
untried("no-gpu", "Without a GPU let the program use the CPU", "needs a build with CUDA")
untried("no-gpu", "GPUs count from 0", GPU)
untried("mixed-devices", "Leave `pin_memory` out", GPU)
untried("no-library-file", "Import the package that needs the library first", "needs another system")
untried("no-library-file", "`patchelf --clear-execstack FILE`", "needs another system")
untried("no-library-file", "bitsandbytes has not loaded its library", GPU)
untried("extension-build", "`pip install ninja`", COMPILER)
untried("extension-build", "Install a PyTorch for the CUDA of nvcc", COMPILER)
untried("extension-build", "Set CUDA_HOME to a CUDA toolkit", COMPILER)
untried("extension-build", "leave it out of TORCH_CUDA_ARCH_LIST", COMPILER)
untried("extension-build", "Let nvcc use an older compiler", COMPILER)
untried("extension-build", "The compiler's first `error:`", DIAGNOSIS)
untried("no-attention", "FlashAttention 2 takes float16 and bfloat16", GPU)
untried("no-strides", "Call `x.contiguous()` before", "the texts are of CUDA")
untried("other-text", "Lines below, such as those with E40021", "needs the package of a backend")
untried("no-stub", "Use a newer torch-directml", "needs the package of a backend")
untried("changed-cpp", "Compile with `-std=c++", COMPILER)
untried("extension-build", "Start it in the x64 Native Tools Command Prompt", "needs Windows")
untried("not-built", "GPUs are 'cuda:0', not 'gpu'", GPU)
untried("undefined-symbol", "Take the libtorch with cxx11-abi", "needs C++")
untried("mixed-dtypes", "Convert the tensor to {wanted}", "needs C++")
untried("wrong-arguments", "The text lists the overloads, and the types", "needs a pass that rewrites graphs")
untried("no-library-file", "Install Python and PyTorch for this processor", "needs another system")
untried("mixed-devices", "Or give the process group a backend for each device", GPU)
untried("assigned-data", "Make a tensor on that device", GPU)
