"""Texts about tensors that a function refuses for their dtype, layout or device, and about machines and builds."""

import contextlib

import torch

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"
INTEL_GPU = "needs a GPU of Intel"
SCRIPT_CLASS = "needs a class of TorchScript in C++"


@tries("mixed-dtypes", "Convert the mask: `mask.bool()`", "or `mask == 0`")
def mask_of_numbers(advice):
    x, mask = torch.ones(2), torch.tensor([0.0, 1.0])
    mask = mask == 0 if "==" in advice else mask.bool() if advice else mask
    assert x.masked_select(mask).sum() == 1


untried("no-dtype", "let Intel's driver emulate it", INTEL_GPU)
untried("mixed-dtypes", "Convert the tensor to {wanted}", "needs C++")
untried("wrong-arguments", "The text lists the overloads, and the types", "needs a pass that rewrites graphs")


untried("no-stub", "or convert the tensors of", "needs a Mac")


@tries("no-dtype", "Convert it to int64")
def bits_of_unsigned_numbers(advice):
    x = torch.ones(2, dtype=torch.uint32)
    shifted = x.long() << 1 if advice else x << 1
    assert shifted.sum() == 4


@tries("bad-registration", "Keys are those that `dispatch-cli keys` lists")
def key_of_no_backend(advice):
    torch.library.Library("aten", "IMPL", "CUDA" if advice else "GPU")


@tries("defined-twice", "A process has one such backend")
def two_names_of_a_backend(advice):
    torch.utils.rename_privateuse1_backend("mine")
    if not advice:
        torch.utils.rename_privateuse1_backend("other")


@tries("fake-mixed", "Pass the tensor that is changed to the function as an argument")
def outer_tensor_under_functionalize(advice):
    outer, x = torch.ones(2), torch.ones(2)

    def added(x, to):
        return to.add_(x)

    function = torch.func.functionalize(added) if advice else torch.func.functionalize(lambda x: added(x, outer))
    assert function(*((x, outer) if advice else (x,))).sum() == 4


@tries("no-data", "read it from a file, `torch.load(file, map_location='cpu')`")
def state_without_data(advice):
    state = torch.nn.Linear(2, 2, device="cpu" if advice else "meta").state_dict()
    torch.nn.Linear(2, 2).load_state_dict(state)


@tries("no-dtype", "Compute it in float32, `x.float()`, with autocast off")
def transform_of_bfloat16(advice):
    x = torch.ones(4, dtype=torch.bfloat16)
    torch.fft.rfft(x.float() if advice else x)


@tries("changed-in-place", "Or change a copy, `y = x.clone()`")
def weight_that_is_changed(advice):
    x = torch.ones(2, requires_grad=True)
    y = x.clone() if advice else x
    y.mul_(2)
    assert x.sum() == 2


@tries("changed-in-place", "both inside of `torch.no_grad()`", "or both outside")
def view_made_without_gradients(advice):
    x = torch.ones(2, requires_grad=True) * 2
    with torch.no_grad() if "outside" not in advice else contextlib.nullcontext():
        view = x[0]
        if "inside" in advice:
            view.mul_(2)
    if "inside" not in advice:
        view.mul_(2)
