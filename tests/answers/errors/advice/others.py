"""Texts of torch.compile that have no known sentence, of the backward, and others."""

import contextlib
import time
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from tests.answers.errors.advice.gradients import training
from tests.answers.errors.advice.slots import ONE, define, quantized
from tests.answers.errors.advice.trial import tries, untried


@tries("other-text", "exclude the call: `@torch.compiler.disable`")
def fake_implementation_that_raises(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)

    @torch.library.register_fake("t::f")
    def fake(x):
        raise NotImplementedError("strides of t::f are not supported")

    call = torch.compiler.disable(op) if advice else op
    assert torch.compile(lambda x: call(x) * 2, backend="eager", fullgraph=not advice)(ONE).sum() == 16


class Checked(torch.fx.Tracer):
    check_mutable_operations = True


@tries("changed-in-place", "Trace the functional form of the program", "Use the operator that returns its result")
def mutable_operation_traced(advice):
    def f(x):
        return torch.ops.aten.add.Tensor(x, x) if "returns" in advice else torch.ops.aten.add_.Tensor(x.clone(), x)

    Checked().trace(make_fx(functionalize(f) if "Trace" in advice else f)(ONE))


@tries("other-text", "leave `fullgraph=True` out", "Make a compiled function an operator", since="2.13", until="2.13")
def function_of_an_extension(advice):
    warnings.simplefilter("ignore")  # of the break in the graph
    f = time.perf_counter
    if "operator" in advice:
        f = define("t::f", "() -> float", CompositeExplicitAutograd=f)
    torch.compile(lambda x: x * f(), backend="eager", fullgraph="leave" not in advice)(ONE)


untried("other-text", "Run it without torch.compile", "a diagnosis")
untried("other-text", "Declare those arguments that the kernel changes", "tried for texts about writes")
untried("other-text", "`torch.library.opcheck(op, args)`", "a diagnosis")
untried("other-text", "Use a newer release of its package, which may make it", "needs two releases of a package")
untried("other-text", "Give it a fake implementation", "tried for texts about its absence")


@tries("changed-in-place", "`inplace=False` in layers", "`x = x + y`", "or change a copy")
def changed_before_backward(advice):
    y = training(1.0).exp()
    if "layers" in advice:
        y = torch.nn.functional.relu(y)
    elif "copy" in advice:
        y = y.clone().add_(1)
    elif advice:
        y = y + 1
    else:
        torch.nn.functional.relu(y, inplace=True)
    y.backward()


@tries("backward-call", "Check that parameters require a gradient", "`torch.library.register_autograd(op, backward)`")
def operator_without_a_history(advice):
    torch._C._set_autograd_fallback_mode("nothing")
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x.detach() + 1)
    if "register" in advice:
        torch.library.register_autograd("t::f", lambda ctx, g: g)
    x = training(1.0)
    ((op(x) * x) if "Check" in advice else op(x)).sum().backward()


@tries(
    "backward-call", "compute there under `torch.enable_grad()`", "in inference mode also `torch.inference_mode(False)`"
)
def evaluation_with_gradients(advice):
    x = training(1.0)
    inside = torch.inference_mode(False) if "inference" in advice else torch.enable_grad()
    outside = torch.inference_mode() if "inference" in advice else torch.no_grad()
    with outside, inside if advice else contextlib.nullcontext():
        (x * 2).sum().backward()


@tries("no-strides", "or one of oneDNN, by `x.to_dense()`")
def filled_as_a_sparse_tensor(advice):
    x = torch.eye(2).to_sparse()
    x = x.to_dense() if advice else x
    assert torch.full((2, 2), 1.0, layout=x.layout).sum() == 4


@tries("other-text", "convert them before")
def quantized_tensor_made_fake(advice):
    q = quantized()
    FakeTensorMode().from_tensor(q.dequantize() if advice else q)


untried("other-text", "Try `backend='eager'`", "a diagnosis")
untried("changed-in-place", "set_detect_anomaly(True)", "a diagnosis")


@tries("changed-in-place", "do it under `with torch.no_grad():`")
def change_of_a_leaf(advice):
    weight = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad() if advice else contextlib.nullcontext():
        weight[0].add_(1)


@tries("no-data", "create it, or that tensor, with `device='cpu'`")
def value_that_a_module_reads(advice):
    with torch.device("cpu" if advice else "meta"):
        torch.ones(1).item()


@tries("bad-registration", "import it at the top of the module", since="2.7")
def annotation_that_is_a_string(advice):
    names = {"torch": torch} if advice else {}
    exec("def f(x: 'torch.Tensor') -> 'torch.Tensor': return x", names)
    assert torch.library.infer_schema(names["f"], mutates_args=()) == "(Tensor x) -> Tensor"


untried("no-sharding", "Inference mode gives DTensor other calls", "newer versions take them")
untried("defined-twice", "another overload name, as in `ns::f.name`", "needs C++")


@tries("backward-call", "off its graph", "pass `retain_graph=True` to the first")
def state_of_an_earlier_step(advice):
    x = training(2.0)
    state = x * x
    state.sum().backward(retain_graph="pass" in advice)
    ((state.detach() if "off" in advice else state) * x).sum().backward()


@tries("no-strides", "give them two dimensions, with one number each")
def product_of_csr_with_more_dimensions(advice):
    x = torch.sparse_csr_tensor([0, 1, 2], [0, 1], torch.ones(2) if advice else torch.ones(2, 1))
    assert (x @ x).sum() == 2


@tries("changed-in-place", "Copy it before it is changed: `x = x.expand(n, m).clone()`")
def write_to_an_expanded_tensor(advice):
    x = torch.zeros(1, 2).expand(3, 2)
    x = x.clone() if advice else x
    x += torch.ones(3, 2)
    assert x.sum() == 6


@tries("changed-in-place", "Copy what is read: `x[i] = x[i].T.clone()`")
def write_to_what_is_read(advice):
    x = torch.arange(8.0).reshape(2, 2, 2)
    x[1] = x[1].T.clone() if advice else x[1].T
    assert x[1, 0].tolist() == [4, 6]


@tries("no-dtype", "`mask.to(x.dtype)`", "torch.where")
def large_number_in_a_mask_of_bytes(advice):
    x, mask = torch.ones(2), torch.ones(2, dtype=torch.uint8)
    if "where" in advice:
        return torch.where(mask.bool(), -1e9, x).sum()
    return (mask.to(x.dtype) if advice else mask).masked_fill_(torch.tensor([True, False]), -1e9)


untried("changed-in-place", "return no view", "needs several processes")
untried("not-built", "Move the module and its arguments to the GPU", "needs a GPU")
untried("not-built", "the package may have a form in Python", "needs a GPU")
