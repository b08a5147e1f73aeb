"""Texts about devices, layouts and dtypes, and about what a kernel itself refuses."""

import io
import types

import torch

from tests.answers.errors.advice.slots import ONE
from tests.answers.errors.advice.trial import tries, untried


@tries("no-dtype", "Compute with real numbers, as the meaning asks")
def complex_numbers_in_a_softmax(advice):
    x = torch.ones(2, dtype=torch.complex64)
    (x.abs() if advice else x).log_softmax(0)


@tries("no-dtype", "Convert the tensors before the", "On the CPU, run the whole model in float32")
def half_without_code(advice):
    x = torch.ones(1, 1, 2, 2, 2, dtype=torch.half)
    torch.nn.functional.avg_pool3d(x.float() if advice else x, 2)


@tries("no-dtype", "Compute this in float32, `f(x.float()).to(x.dtype)`")
def half_of_a_matrix(advice):
    x = torch.eye(2, dtype=torch.half)
    assert (torch.linalg.cholesky(x.float()).to(x.dtype) if advice else torch.linalg.cholesky(x)).dtype == torch.half


@tries(
    "no-dtype", "Softmax and losses compute with floats: `x.float()`", "leave `.long()` and argmax before the loss out"
)
def whole_numbers_in_a_loss(advice):
    prediction = ONE.reshape(1, -1)
    torch.nn.functional.cross_entropy(prediction if advice else prediction.long(), torch.tensor([0]))


@tries("no-dtype", "Convert it before the call, `x.int()`", "mask: `y.bool()`")
def truth_values_without_code(advice):
    x = torch.tensor([False, True])
    assert (x.int().cumsum(0) if advice else x.cumsum(0, dtype=torch.bool)).bool()[1]


@tries("no-dtype", "It computes with floats: `x.float()`", "`y.bool()`", "`y.round().to(x.dtype)`")
def patches_of_whole_numbers(advice):
    x = torch.ones(1, 1, 2, 2, dtype=torch.bool if "bool" in advice else torch.int64)
    y = torch.nn.functional.unfold(x.float() if advice else x, 2)
    assert (y.bool() if "bool" in advice else y.round().to(x.dtype)).sum() == 4


@tries("no-dtype", "Create the tensor, or initialise the module, in a dtype")
def random_numbers_of_integers(advice):
    x = torch.randn(3).to(torch.long) if advice else torch.randn(3, dtype=torch.long)
    assert x.dtype == torch.long


@tries("no-dtype", "if autocast chose the dtype, turn that off around this call")
def half_of_autocast(advice):
    layer = torch.nn.Linear(2, 2)
    dtype = torch.float if "dtype" in advice else torch.bfloat16
    with torch.autocast("cpu", dtype, enabled=not advice):
        torch.special.erfcx(layer(ONE))


@tries("no-dtype", "`(a > b) & (c > d)`", "`x.bool() & y.bool()`", "torch.logical_and(x, y)", "Numbers: `x.long()`")
def bits_of_floats(advice):
    x, y = torch.tensor([0.0, 2.0]), torch.tensor([1.0, 3.0])
    if "(a > b)" in advice:
        both = (x > 1) & (y > 1)
    elif "bool" in advice:
        both = x.bool() & y.bool()
    elif "logical_and" in advice:
        both = torch.logical_and(x, y)
    else:
        both = x.long() & y.long() if advice else x > 1 & y > 1
    assert both.tolist() == [False, True] or both.tolist() == [0, 2]


SECOND = "needs a second device with data"
OTHER_BUILD = "needs another build"
BACKEND = "needs the package of a backend"
untried("no-dtype", "If it should run on a GPU: move the module", "needs a GPU")
untried("no-dtype", "Convert them before they are moved", SECOND)
untried("no-dtype", "to its AT_DISPATCH macro", "needs C++")
untried("no-dtype", "is mostly a kernel of an extension", "needs CUDA and an extension")
untried("no-stub", "Move the tensors to the CPU for this call", BACKEND)
untried("no-library-file", "Build or install the package again", "needs nvcc")
untried("no-stub", "Set `torch.backends.quantized.engine", "needs a build without an engine")
untried("no-stub", "REGISTER_PRIVATEUSE1_DISPATCH", BACKEND)
untried("no-stub", "In a C++ program, link PyTorch's library for the device", "needs a build with CUDA")
untried(
    "ran-on-cpu",
    "If no error follows",
    "needs a backend with a fallback to the CPU",
)
untried("no-dtype", "float8 is for stored weights", SECOND)
untried("no-kernel", "Or, for all operators of the backend, a fallback", "needs an older PyTorch")
untried("ran-on-cpu", "If it fails or is too slow", "needs a backend with a fallback to the CPU")
untried("ran-on-cpu", "Register a kernel of", "needs a backend with a fallback to the CPU")
untried("mixed-devices", "Move the tensors and the module to one device", SECOND)
untried("mixed-devices", "does not move a layer that is created in `forward`", SECOND)
untried("not-built", "Install a build of PyTorch for", OTHER_BUILD)


@tries("not-built", "Load it on the CPU")
def saved_program_for_a_device_of_phones(advice):
    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), saved)
    saved.seek(0)
    torch.jit.load(saved, map_location="cpu" if advice else "vulkan")


untried("no-kernel", "a libtorch for CUDA: linkers leave torch_cuda out", OTHER_BUILD)
untried("no-kernel", "Set TORCH_CUDA_VERSION", "needs Rust")


@tries(
    "no-device-module",
    "Call torch.utils.rename_privateuse1_backend('name')",
    "import that before, as by",
)
def backend_without_a_module(advice):
    backend_without_a_module.kept = library = torch.library.Library("aten", "IMPL")
    library.impl("empty.memory_format", lambda size, **named: torch.ones(size), "PrivateUse1")
    if advice:
        module = types.ModuleType("torch.mine")
        module.is_initialized = module.is_available = lambda: True
        module._is_in_bad_fork = lambda: False
        module.current_device = lambda: 0
        torch.utils.rename_privateuse1_backend("mine")
        torch._register_device_module("mine", module)
    torch.empty(2, device="mine" if advice else "privateuseone")


untried("no-device-module", "RegisterPrivateUse1HooksInterface", "needs C++")


@tries("mixed-dtypes", "Convert the argument, such as `indices.long()`", "leave tensors of integers as they are")
def indices_of_another_dtype(advice):
    indices = torch.tensor([0, 1])
    if "leave" not in advice:
        indices = indices.half()
    torch.nn.Embedding(2, 2)(indices.long() if "Convert" in advice else indices)


@tries("mixed-dtypes", "If it is a mask: `mask.bool()`")
def mask_of_floats(advice):
    mask = torch.tensor([1.0, 0.0])
    assert torch.ones(2)[mask.bool() if advice else mask].sum() == 1


untried("mixed-devices", "Move the index to the tensor", "needs a GPU")
untried("no-stub", "A newer macOS or PyTorch may have it", "needs a Mac")


@tries("no-dtype", "`torch.view_as_real(x)`")
def complex_numbers_without_code(advice):
    x = torch.ones(2, dtype=torch.complex32)
    assert (torch.view_as_real(x).sum(0)[0] if advice else x.sum()) == 2


@tries("no-dtype", "Compute in complex64")
def complex_numbers_of_half_precision(advice):
    x = torch.ones(2, dtype=torch.complex32)
    assert (x.to(torch.complex64) if advice else x).sum() == 2


@tries("mixed-devices", "Create it by `x.new_empty(…)`")
def old_constructor_of_another_device(advice):
    create = torch.tensor if advice else torch.FloatTensor
    assert create([1.0], device="meta").shape == (1,)


@tries("mixed-dtypes", "Convert a mask of 0 and 1 by `mask.bool()`")
def mask_of_whole_numbers(advice):
    x, mask = torch.ones(1, 2, 2), torch.tensor([[1, 0], [0, 1]])
    torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask.bool() if advice else mask)


@tries("mixed-dtypes", "Convert the others to the dtype of the query")
def attention_of_several_dtypes(advice):
    query, key = torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2, dtype=torch.double)
    key = key.to(query.dtype) if advice else key
    torch.nn.functional.scaled_dot_product_attention(query, key, key)


untried("not-built", "Set HSA_OVERRIDE_GFX_VERSION", "needs a GPU of AMD")
untried("no-device-module", "Create the numbers on the CPU", BACKEND)
untried("slot", "Turn off the fused code of Transformers", BACKEND)
untried("no-device-module", "TORCH_DEVICE_BACKEND_AUTOLOAD=0 leaves it out", BACKEND)
untried("no-kernel", "Load the saved program to the CPU", "needs a program that was saved from a GPU")
untried("no-dtype", "Labels and indices have to be of int64", SECOND)
