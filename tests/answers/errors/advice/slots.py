"""Texts about a slot that is empty, or does not hold what the call needs."""

import torch
from torch.func import vmap

from tests.answers.errors.advice.trial import tries, untried

ONE = torch.ones(2, 2)


def define(name, schema, **kernels):
    """An operator with kernels by dispatch key."""
    torch.library.define(name, schema)
    for key, kernel in kernels.items():
        torch.library.impl(name, key)(kernel)
    namespace, _, operator = name.partition("::")
    return getattr(getattr(torch.ops, namespace), operator)


def quantized():
    return torch.quantize_per_tensor(ONE, 1.0, 0, torch.quint8)


def nested():
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


@tries("no-kernel", "or at an alias key that covers it")
def kernel_of_another_device(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CUDA=lambda x: x + 1)
    if advice:
        torch.library.impl("t::f", "CPU")(lambda x: x + 1)
    assert op(ONE).sum() == 8


@tries("no-kernel", "Make the tensor dense before the call: `x.to_dense()`")
def sparse_tensor(advice):
    x = torch.eye(2).to_sparse()
    x = x.to_dense() if advice else x
    assert x.cumsum(0).sum() == 3


@tries("no-kernel", "Make the tensor dense before the call: `x.to_dense()`")
def tensor_of_mkldnn(advice):
    x = ONE.to_mkldnn()
    x = x.to_dense() if advice else x
    assert x.cumsum(0).sum() == 6


@tries("no-kernel", "Dequantize the tensor before the call: `x.dequantize()`")
def quantized_tensor(advice):
    x = quantized()
    x = x.dequantize() if advice else x
    assert torch.add(x, x).sum() == 8


@tries("no-kernel", "call `model.eval()` before the model is converted and run", "or take the dropout out")
def dropout_of_a_quantized_tensor(advice):
    layers = [torch.nn.Identity() if "take" in advice else torch.nn.Dropout(0.5)]
    model = torch.nn.Sequential(*layers).train("eval" not in advice)
    assert model(quantized()).dequantize().sum() == 4


@tries("no-kernel", "Quantize the tensor before: `torch.quantize_per_tensor(...)`")
def tensor_that_is_not_quantized(advice):
    x = quantized() if advice else ONE
    torch.ops.quantized.add(x, x, 1.0, 0)


@tries("no-kernel", "torch.nested.to_padded_tensor(x, 0)", "`x.unbind()`", "layout=torch.jagged")
def nested_tensor(advice):
    x = nested()
    if "padded" in advice:
        assert torch.nested.to_padded_tensor(x, 0).cos().shape == (2, 3)
    elif "unbind" in advice:
        assert len([part.sinh() for part in x.unbind()]) == 2
    elif "jagged" in advice:
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged).sinh()
    else:
        x.sinh()


@tries("no-kernel", "If it is the gradient of an embedding, create the embedding with `sparse=False`")
def gradient_of_an_embedding(advice):
    embedding = torch.nn.Embedding(3, 2, sparse=not advice)
    embedding(torch.tensor([1])).sum().backward()
    embedding.weight.grad.cumsum(0)


@tries("no-kernel", "call it under `torch.inference_mode()`")
def autograd_key_without_a_kernel(advice):
    op = define("t::f", "(Tensor x) -> Tensor", NestedTensorCPU=lambda x: x.clone())
    x = nested()
    with torch.inference_mode(bool(advice)):
        op(x)


@tries(
    "no-tensors",
    "skip the call in this case",
    "register a kernel at CompositeExplicitAutograd or CompositeImplicitAutograd",
    "or at BackendSelect, to choose a backend by an argument such as `device`",
)
def list_that_is_empty(advice):
    op = define("t::f", "(Tensor[] xs) -> Tensor", CPU=lambda xs: torch.cat([*xs, ONE]))
    parts = []
    if "CompositeExplicit" in advice:
        torch.library.impl("t::f", "CompositeExplicitAutograd")(lambda xs: torch.cat([*xs, ONE]))
    elif "BackendSelect" in advice:
        torch.library.impl("t::f", "BackendSelect")(lambda xs: torch.cat([*xs, ONE]))
    if "skip" not in advice or parts:
        assert op(parts).shape == (2, 2)


@tries("no-tensors", "register a kernel in place of it")
def fallthrough_at_the_backend(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=(lambda x: x + 1) if advice else torch.library.fallthrough_kernel)
    assert op(ONE).shape == ONE.shape


@tries(
    "ambiguous",
    "Register a kernel at AutogradOther",
    "or move the composite one to CompositeExplicitAutograd",
    "Call it on another device",
)
def composite_beside_mkldnn(advice):
    composite = "CompositeExplicitAutograd" if "move" in advice else "CompositeImplicitAutograd"
    op = define("t::f", "(Tensor x) -> Tensor", MkldnnCPU=lambda x: x.to_dense(), **{composite: lambda x: x + 1})
    if "AutogradOther" in advice:
        torch.library.impl("t::f", "AutogradOther")(lambda x: x.to_dense())
    x = ONE if "another device" in advice else ONE.to_mkldnn()
    with torch.inference_mode("inference_mode" in advice):
        assert op(x).shape == (2, 2)


@tries(
    "no-autograd",
    "torch.no_grad()",
    "torch.library.register_autograd(op, backward",
    "register a fallthrough at Autograd",
)
def operator_without_autograd(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: torch.empty_like(x).requires_grad_(x.requires_grad))
    x = torch.ones(2, requires_grad=True)
    if "register_autograd" in advice:
        torch.library.register_autograd("t::f", lambda ctx, g: g * 3)
    elif "fallthrough" in advice:
        torch.library.impl("t::f", "Autograd")(torch.library.fallthrough_kernel)
    with torch.set_grad_enabled("no_grad" not in advice):
        y = op(x)
    if y.requires_grad:
        (y * 1).sum().backward()
    assert "register_autograd" not in advice or x.grad.sum() == 6


@tries(
    "no-batching-rule",
    "all the operator outside of vmap",
    "Register a batching rule: torch.library.register_vmap",
    "or a kernel at FuncTorchBatched",
    unchanged=("You do not have to change anything",),
    since="2.5",
)
def loop_in_place_of_a_rule(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    if "register_vmap" in advice:
        torch.library.register_vmap("t::f", lambda info, dims, x: (op(x), dims[0]))
    elif "kernel" in advice:
        torch.library.impl("t::f", "FuncTorchBatched")(lambda x: x + 1)
    call = op if "outside" in advice else vmap(op)
    assert call(ONE).sum() == 8


@tries("no-batching-rule", "Turn the loop on again")
def loop_that_is_off(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    torch._C._functorch._set_vmap_fallback_enabled(bool(advice))
    assert vmap(op)(ONE).sum() == 8


@tries("no-batching-rule", "all the operator outside of vmap", "or write the loop")
def view_without_a_rule(advice):
    op = define("t::f", "(Tensor(a) x) -> Tensor(a)", CPU=lambda x: x.view(x.shape))
    if "outside" in advice:
        op(ONE)
    elif "loop" in advice:
        torch.stack([op(x) for x in ONE])
    else:
        vmap(op)(ONE)


@tries(
    "no-meta",
    "`@torch.compiler.disable`",
    "give it one yourself: `@torch.library.register_fake(",
    "Register a fake implementation: `torch.library.register_fake`",
)
def kernel_of_cpu_alone(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    if "register_fake" in advice:
        torch.library.register_fake("t::f")(lambda x: torch.empty_like(x))
    called = torch.compiler.disable(op) if "disable" in advice else op
    compiled = torch.compile(lambda x: called(x) * 2, backend="eager", fullgraph="disable" not in advice)
    assert compiled(ONE).sum() == 16


@tries("no-meta", "Load them before the call")
def weights_without_data(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    layer = torch.nn.Linear(2, 2, device="meta")
    if advice:
        layer.to_empty(device="cpu").load_state_dict(torch.nn.Linear(2, 2).state_dict())
    op(layer.weight)


@tries("no-names", "Drop the names before the call: `x.rename(None)`", until="2.12")
def named_tensor(advice):
    x = torch.zeros(2, 2, names=("a", "b"))
    x = x.rename(None) if advice else x
    assert x.nonzero().shape == (0, 2)


MPS = "needs a build with MPS or XPU"
untried("no-kernel", "The input is probably on the CPU", "needs a second device with data")
untried("no-kernel", "Before the call, load the library that the files describe", "the user's own library")
untried("not-on-device", "before torch is imported: the CPU then", MPS)
untried("no-kernel", "made for the installed PyTorch: the two versions must match", "needs another build")
untried("no-kernel", "In a build with selected operators", "needs another build")
untried("no-kernel", "https://pytorch.org/get-started/locally/", "needs another build")
untried("no-kernel", "before you create a tensor", "needs the package of a backend")
untried("no-kernel", "Install a build of {whose_package} for [[", "needs another build")
untried("no-kernel", "Use a newer PyTorch for XPU", "needs another build")
untried("no-kernel", "pass `{option}=False`", "needs another device")
untried("evidence", "GradScaler is for", "needs a GPU")
untried("no-kernel", "Or run the program on the CPU: device='cpu'", "needs another build")
untried("no-dtype", "Convert an index or labels, `y.long()`", "needs a GPU")
untried("no-dtype", "Labels are of int64: `y.long()`", "needs a GPU")
untried("no-dtype", "Packed weights of a quantized model (GPTQ, AWQ) have to stay int32", "needs another package")
untried("bad-registration", "Of a package: use its release for the installed PyTorch", "needs a package")
untried("not-defined", "or load its library: `torch.ops.load_library(path)`", "needs a compiled library")
untried("not-defined", "Export the model without operators of Caffe2", "needs an older build")
untried("not-defined", "Import what registers the class", "needs a compiled library")
untried("no-kernel", "Try a newer PyTorch, or package of the backend", "no such version is known")
untried("no-kernel", "Create the tensor on", "needs another build")
untried("no-kernel", "Move the tensors to {moved_to} for this call", "needs another build")
untried("no-kernel", "Run the quantized model and its inputs on the CPU", "needs a GPU")
untried("no-kernel", "For shapes alone, as in torch.compile", "needs another build")
untried("mixed-devices", "A model that is spread over GPUs", "needs two GPUs")
untried("no-kernel", "Use a newer release of the package of this backend", "needs the package of a backend")
untried("no-autograd", "To train through it: PyTorch 2.13 or newer", "needs several processes")
untried("no-data", "Or the checkpoint has no weights for that part", "needs a program that loads one")
untried("not-exported", "from opset {opset} on", "needs another build")
untried("other-text", "Use a newer PyTorch, where `torch.ops.ns.f` chooses", "needs another build")
untried("no-meta", "Import the Python module that has its fake implementation", "needs C++ to name the module")
untried("no-tensors", "Find out which list", "as `skip the call in this case`, which is tried")
untried("no-kernel", "Install a newer PyTorch", "needs another version")
untried("no-kernel", "This is a build for macOS", MPS)


untried("no-kernel", "The CPU has none, so that no fallback helps", "needs a GPU of Intel")
untried("no-kernel", "Else choose a model (its quantization)", "needs a GPU")

untried("no-kernel", "BetterTransformer of optimum calls it", "needs another package")
untried("function-transform", "An operator of torch.library has no place for that", "needs another operator")
untried("data-dependent", "Call it on the whole tensor, `x.full_tensor()`", "needs several processes")


@tries("no-dtype", "Dequantize it, `x.dequantize()`")
def quantized_inverse(advice):
    x = quantized()
    torch.linalg.vector_norm(x.dequantize() if advice else x)


@tries("other-text", "Correct it without torch.compile first: it fails there, too")
def attribute_that_tensors_lack(advice):
    f = torch.compile(lambda x: x.sin() if advice else x.foo.bar, fullgraph=True, backend="eager")
    assert f(torch.zeros(2)).sum() == 0
