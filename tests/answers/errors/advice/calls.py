"""Texts about the arguments of a call, and about what an operator does with them."""

import torch
from torch.library import custom_op

from tests.answers.errors.advice.fakes import compiled
from tests.answers.errors.advice.gradients import training
from tests.answers.errors.advice.modes import mesh
from tests.answers.errors.advice.slots import ONE, define, nested
from tests.answers.errors.advice.trial import tries, untried

OTHER = "needs a GPU, or another package"


def add_number():
    return define("t::f", "(Tensor x, SymInt n) -> Tensor", CompositeExplicitAutograd=lambda x, n: x + n)


@tries("wrong-arguments", "Compare the call with the declaration of the function")
def argument_that_is_missing(advice):
    op = add_number()
    assert op(*((ONE, 1) if advice else (ONE,))).sum() == 8


@tries("wrong-arguments", "update it, or correct the call")
def argument_of_a_later_version(advice):
    masks = ([True, True],) if advice else ()
    x, grid = torch.ones(1, 1, 2, 2), torch.zeros(1, 2, 2, 2)
    assert len(torch.ops.aten.grid_sampler_2d_backward(x, x, grid, 0, 0, False, *masks)) == 2


@tries("wrong-arguments", "Sizes are whole numbers, in tuples too", "`torch.stack(x)`")
def convolution_of_a_list(advice):
    x = [torch.ones(1, 2, 2)] * 2
    padding = 1 // 2 if advice else 1 / 2
    torch.nn.functional.conv2d(torch.stack(x) if advice else x, torch.ones(1, 1, 1, 1), padding=(padding, padding))


@tries("wrong-mutation", "(register_fake), or another kernel: give it the parameters")
def kernel_of_other_arguments(advice):
    op = define("t::f", "(Tensor x, *, int n=1) -> Tensor", CPU=lambda x, n=1: x + n)
    fake = (lambda x, n=1: torch.empty_like(x)) if advice else (lambda x: torch.empty_like(x))
    torch.library.register_fake("t::f")(fake)
    assert compiled(lambda x: op(x, n=2))(ONE).sum() == ONE.sum() + 2 * ONE.numel()


@tries("wrong-arguments", "Pass a tensor: `torch.tensor(n)`")
def number_in_place_of_a_tensor(advice):
    define("t::g", "(Tensor x) -> Tensor", CompositeExplicitAutograd=lambda x: x + 1)
    assert torch.ops.t.g(torch.tensor(2) if advice else 2) == 3


@tries("wrong-arguments", "Pass one value of this type", "of a tensor with one element, `n.item()`")
def text_in_place_of_a_number(advice):
    op = add_number()
    n = torch.tensor([1, 2]) if "item" in advice else "1"
    assert op(ONE, n[0].item() if "item" in advice else int(n) if advice else n).sum() == 8


@tries("wrong-arguments", "for lists of tensors and numbers write a loop")
def list_in_place_of_a_number(advice):
    op = add_number()
    tensors, numbers = [ONE, ONE], [1, 2]
    assert sum(op(x, n).sum() for x, n in zip(tensors, numbers, strict=True)) == 20 if advice else op(ONE, numbers)


@tries("wrong-arguments", "Call `.item()` on that tensor before")
def tensor_in_place_of_a_number(advice):
    op = add_number()
    torch._dynamo.config.capture_scalar_outputs = True
    assert compiled(lambda x, n: op(x, n.item() if advice else n))(ONE, torch.tensor(1)).sum() == 8


@tries(
    "mixed-dtypes",
    "`x.to(weight.dtype)`",
    "or the model: `model.to(x.dtype)`",
    "run the forward under `torch.autocast(device_type)`",
)
def product_of_two_dtypes(advice):
    layer, x = torch.nn.Linear(2, 2), torch.ones(2, 2, dtype=torch.bfloat16)
    if "model.to" in advice:
        layer.to(x.dtype)
    elif "weight.dtype" in advice:
        x = x.to(layer.weight.dtype)
    with torch.autocast("cpu", enabled="autocast" in advice):
        layer(x)


@tries("mixed-dtypes", "NumPy makes float64", "for a model of float64, `x.double()`")
def input_of_float64(advice):
    weight = torch.ones(1, 2, 2, dtype=torch.double if "double" in advice else torch.float)
    x = torch.ones(1, 2, 2, dtype=torch.float if "double" in advice else torch.double)
    x = x.double() if "double" in advice else x.float() if advice else x
    torch.bmm(x, weight)


@tries(
    "mixed-dtypes", "`y.to(x.dtype)`, which cuts", "Use what returns its result", "`x = x.to(y.dtype)`, the `out=` too"
)
def floats_added_to_integers(advice):
    x, y = torch.ones(2, dtype=torch.long), torch.ones(2)
    if "out=" in advice:
        torch.add(x, y, out=torch.empty(2))
        x.to(y.dtype).add_(y)
    elif "returns" in advice:
        assert torch.equal(x + y, 2 * y)
    else:
        x.clamp_(torch.zeros(2, dtype=x.dtype), y.to(x.dtype)) if advice else x.add_(y)


@tries("no-strides", "`x.to_dense()`")
def strides_of_csr(advice):
    x = torch.eye(2).to_sparse_csr()
    (x.to_dense() if advice else x).stride()


@tries("no-strides", "`torch.nested.to_padded_tensor(x, 0)`")
def strides_of_a_nested_tensor(advice):
    x = nested()
    (torch.nested.to_padded_tensor(x, 0) if advice else x).stride()


@tries("no-strides", "Give both the same offsets", "Or call it for each part")
def offsets_of_jagged_tensors(advice):
    x, y = (torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=torch.jagged) for _ in range(2))
    if "offsets" in advice:
        y = torch.nested.nested_tensor_from_jagged(y.values(), x.offsets())
    parts = list(zip(x.unbind(), y.unbind(), strict=True)) if "each part" in advice else [(x, y)]
    assert sum((a - b).values().sum() if a.is_nested else (a - b).sum() for a, b in parts) == 0


untried("not-built", "PyTorch and its CUDA (`torch.version.cuda`)", OTHER)
untried("mixed-devices", "Create the generator on that device", OTHER)


@tries("wrong-mutation", "or name it in `mutates_args`", "or work on `x.clone()`")
def mutation_without_a_mark(advice):
    @custom_op("t::f", mutates_args=("x",) if "name" in advice else ())
    def f(x: torch.Tensor) -> None:
        (x.clone() if "clone" in advice else x).add_(1)

    torch.library.opcheck(f, (torch.ones(2),), test_utils=("test_schema",))


untried("wrong-mutation", "Do not compile or export the call", "nothing to try")


untried("no-stub", "Register a kernel of aten::{function}_overrideable", "needs C++")


@tries("no-derivative", "Detach that argument before the call", "multiply the loss of `reduction='none'` by it")
def weight_of_a_loss(advice):
    weight, x = training(0.5, 0.5), training(0.5, 0.5)
    loss = torch.nn.functional.binary_cross_entropy
    if "none" in advice:
        (loss(x, torch.ones(2), reduction="none") * weight).mean().backward()
        assert weight.grad is not None
    else:
        loss(x, torch.ones(2), weight=weight.detach() if advice else weight).backward()
    assert x.grad is not None


untried("no-derivative", "Use a newer PyTorch, which may have it", "needs another build")
untried("no-derivative", "Operators of `prims` come from a decomposition", "needs another compiler")
untried("not-defined", "build PyTorch with this operator", OTHER)
untried("no-library-file", "If Python runs in the folder of the package's sources", OTHER)
untried("no-subclass", "Call it on an ordinary tensor", OTHER)


@tries("bad-registration", "Operators are named `ns::name`")
def name_without_a_namespace(advice):
    torch.library.define("t::f" if advice else "f", "(Tensor x) -> Tensor")


@tries("no-sharding", "`x.to_local()` where each part stands for itself", "Register a strategy", since="2.13")
def plain_tensor_in_a_custom_op(advice):
    from torch.distributed.tensor import Replicate, distribute_tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = define("t::f", "(Tensor x, Tensor y) -> Tensor", CPU=lambda x, y: x + y)
    torch.library.register_fake("t::f", lambda x, y: torch.empty_like(x))
    where = mesh()
    x, y = distribute_tensor(ONE, where, [Replicate()]), torch.ones(2, 2)
    if "strategy" in advice:
        y = distribute_tensor(y, where, [Replicate()])

        @register_sharding(op.default)
        def strategy(x, y):
            return [([Replicate()], [Replicate(), Replicate()])]

    assert op(x.to_local() if "to_local" in advice else x, y).sum() == 8


untried("no-sharding", "Change the placement of an argument", "needs several processes")


untried("not-built", "name another device, such as 'mps'", OTHER)


@tries("no-derivative", "write `forward` and `backward` as static methods")
def function_without_a_backward(advice):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        if advice:

            @staticmethod
            def backward(ctx, g):
                return g * 2

    Double.apply(training(1.0)).backward()


untried("fake-mixed", "PyTorch's own tracers each made one", "needs a fault of PyTorch")


untried("other-text", "Call the function instead, such as `torch.sub(x, y)`", "needs a fault of PyTorch")
untried("no-derivative", "Turn cuDNN off in the forward", "needs a GPU")
untried("no-kernel", "Run this part with", "needs another build")
untried("defined-twice", "Leave PyTorch's libraries out of a wheel", "needs another build")


@tries("no-derivative", "Call it without `out=`")
def gradient_of_a_given_result(advice):
    x = training(1.0, 2.0)
    y = x.exp() if advice else torch.exp(x, out=torch.empty(2))
    y.sum().backward()


untried("no-kernel", "Use a COO tensor in place of it", "as `x.to_dense()`, which is tried")
untried("no-kernel", "Use a dense tensor in place of it", "as `x.to_dense()`, which is tried")
untried("no-kernel", "Move the tensors to the CPU for this call", "as `x.to('cpu')`, which is tried")
untried("no-kernel", "Use the device 'cuda'", "needs a GPU")
untried("changed-in-place", "If it works uncompiled", "needs a fault of PyTorch")
untried("not-defined", "If other operators of the library work", "needs another build")
untried("no-subclass", "Use a newer release of the package of the class", "needs another build")
untried("no-kernel", "FloatFunctional()", "needs the conversion of a whole model")
untried("mixed-dtypes", "Or leave autocast out, and compute in one dtype", "as `model.to(x.dtype)`, which is tried")
untried("not-defined", "Install the torchvision that belongs to", "needs another build")
untried("no-kernel", "A phone has no", "needs a phone")
untried("not-on-device", "Or take a newer release of {whose_package}", "needs another build")
untried("no-autograd", "may bring that kernel in a part that was not loaded", "needs another build")
untried("no-batching-rule", "Call torch.nn.functional.scaled_dot_product", "needs a GPU")
untried("no-batching-rule", "Let attention take plain operators", "needs a GPU")
untried("no-batching-rule", "Use torch.where in place of a condition", "needs an older version")
untried("no-derivative", "On MPS its backward has no derivative", "needs a GPU")
untried(
    "fake-mixed",
    "Keep the function that uses it out of the compiled region",
    "as other calls that are kept out, which are tried",
)
untried("no-dtype", "newer ones have the code for", "needs another build")
untried("no-dtype", "A newer PyTorch may have the code for", "needs another build")
untried("under-vmap", "If no line of the program changes it, PyTorch's own operator", "needs another build")
untried("bad-registration", "Leave the namespace out of the schema", "needs C++")
untried("no-library-file", "Delete its folder in ~/.cache/torch_extensions", "needs the failed build of an extension")
untried("no-kernel", "Pin no memory on this device", "needs another build")
untried("no-data", "With DeepSpeed: try ZeRO-2", "needs DeepSpeed")
untried("no-stub", "or turn cuDNN off for the call", "needs a GPU")


@tries("mixed-dtypes", "Convert `src`, the source, to the dtype of what")
def scatter_of_another_dtype(advice):
    x, source = torch.zeros(2), torch.ones(2, dtype=torch.double)
    source = source.to(x.dtype) if advice else source
    assert x.scatter_add_(0, torch.tensor([0, 1]), source).sum() == 2


class RefusingTensor(torch.Tensor):
    """A tensor that no operator takes."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise TypeError("a fault of the class")


@tries("mixed-dtypes", "or convert, `x.float()`", "switch it off there")
def function_under_autocast(advice):
    class Written(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            return (x.float() if advice else x.clone()).index_put((torch.tensor([0]),), torch.zeros(1, 2))

    with torch.autocast("cpu", enabled="switch" not in advice):
        Written.apply(torch.nn.Linear(2, 2)(torch.ones(2, 2)))


@tries("no-meta", "keep the value a tensor")
def comparison_of_meta_tensors(advice):
    x = torch.ones(2, device="meta")
    is_equal = (x == x).all() if advice else torch.equal(x, x)
    assert torch.where(is_equal, x, -x).shape == (2,)


untried("no-kernel", "Call `model.cpu()` before the model is converted", "needs a GPU")
untried("functionalize-alias", "Use PyTorch 2.4 or newer", "needs an old version")
untried("other-text", "Inductor has two ways to make {op}", "needs a fault of PyTorch")
untried("other-text", "You do not have to change anything.", "of a text that is a note")
untried("mixed-dtypes", "try `foreach=False`", "needs tensors of two devices")
untried("not-captured", "let it return a copy, `x.clone()`", "as no argument as a result, which is tried")
untried("not-defined", "In a program of C++, Rust or Swift", "needs C++")


@tries("no-kernel", "Make the tensor sparse before the call")
def number_of_entries_of_a_dense_tensor(advice):
    x = torch.eye(2)
    assert (x.to_sparse() if advice else x)._nnz() == 2


@tries("no-dtype", "`torch.utils.deterministic.fill_uninitialized_memory = False`", "or the mode", until="2.4")
def new_tensor_that_is_filled(advice):
    torch.use_deterministic_algorithms("mode" not in advice)
    torch.utils.deterministic.fill_uninitialized_memory = "fill" not in advice
    assert torch.empty(2, dtype=torch.float8_e4m3fn).shape == (2,)


@tries("wrong-arguments", "are mostly of two versions")
def argument_too_many(advice):
    assert add_number()(ONE, 1, *(() if advice else (2,))).sum() == 8


@tries("defined-twice", "that module ran twice")
def block_of_a_module_that_runs_twice(advice):
    libraries = [torch.library.Library("t", "DEF") for _ in range(1 if advice else 2)]
    assert len(libraries) == 1
