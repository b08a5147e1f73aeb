"""Texts about the arguments of a call, and about what an operator does with them."""

import contextlib

import torch
from torch.library import custom_op

from tests.answers.errors.advice.fakes import clone_op, compiled
from tests.answers.errors.advice.gradients import training
from tests.answers.errors.advice.modes import group, half, mesh
from tests.answers.errors.advice.slots import ONE, define, nested
from tests.answers.errors.advice.trial import tries, untried


def add_number():
    return define("t::f", "(Tensor x, SymInt n) -> Tensor", CompositeExplicitAutograd=lambda x, n: x + n)


@tries("wrong-arguments", "Compare the call with the declaration in the text")
def argument_that_is_missing(advice):
    op = add_number()
    assert op(*((ONE, 1) if advice else (ONE,))).sum() == 8


@tries("wrong-arguments", "Call `.item()` on that tensor before")
def tensor_in_place_of_a_number(advice):
    op = add_number()
    torch._dynamo.config.capture_scalar_outputs = True
    assert compiled(lambda x, n: op(x, n.item() if advice else n))(ONE, torch.tensor(1)).sum() == 8


@tries("wrong-arguments", "The value is None")
def argument_that_is_none(advice):
    torch.nn.functional.linear(ONE if advice else None, ONE)


untried("wrong-arguments", "torch.fx.wrap('f')", "the tracers of the versions that are tried take a Proxy")
untried("wrong-arguments", "`x.new_empty(...)`", "needs a backend that PyTorch does not have")
untried("wrong-arguments", "Do not call the functions of torch.cuda", "needs a GPU")


@tries(
    "mixed-dtypes",
    "`x.to(weight.dtype)`",
    "or the model: `model.to(x.dtype)`",
    "call it under `torch.autocast(device_type)`",
    "Create tensors with the dtype of an argument",
)
def product_of_two_dtypes(advice):
    layer, x = torch.nn.Linear(2, 2), torch.ones(2, 2, dtype=torch.bfloat16)
    if "model.to" in advice:
        layer.to(x.dtype)
    elif "Create" in advice or "weight.dtype" in advice:
        x = x.to(layer.weight.dtype)
    with torch.autocast("cpu", enabled="autocast" in advice):
        layer(x)


@tries("no-strides", "`x.to_dense()`")
def strides_of_csr(advice):
    x = torch.eye(2).to_sparse_csr()
    (x.to_dense() if advice else x).stride()


@tries("no-strides", "`torch.nested.to_padded_tensor(x, 0)`")
def strides_of_a_nested_tensor(advice):
    x = nested()
    (torch.nested.to_padded_tensor(x, 0) if advice else x).stride()


@tries("no-strides", "or to another sparse layout, `x.to_sparse_csr()`")
def indices_of_another_layout(advice):
    x = torch.eye(2).to_sparse_csc()
    (x.to_dense().to_sparse_csr() if advice else x).crow_indices()


@tries("no-attention-kernel", "leave `sdpa_kernel` out, or add SDPBackend.MATH")
def attention_without_a_kernel(advice):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = torch.ones(1, 1, 2, 2)
    with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION] + [SDPBackend.MATH] * bool(advice)):
        torch.nn.functional.scaled_dot_product_attention(q, q, q)


OTHER = "needs a GPU, or another package"
untried("no-attention-kernel", "The text has the reason for each kernel", OTHER)
untried("no-attention-kernel", "Float32 inputs need other kernels", OTHER)
untried("no-flash-attention", "You do not have to change anything", OTHER)
untried("undefined-tensor", "Check which argument of the call in the traceback is None", "needs C++")
untried("undefined-tensor", "Test `t.defined()`", "needs C++")
untried("no-fallback", "Call `x.contiguous()`", OTHER)
untried("no-fallback", "Register a kernel of {op} for the backend", OTHER)
untried("extension-not-built", "Install a build of the package for the CUDA", OTHER)
untried("extension-not-built", "Or move the tensors to the CPU", OTHER)
untried("extension-not-built", "Move the model and its inputs to the GPU", OTHER)
untried("library-of-gpu", "Install a build for this GPU", OTHER)
untried("library-of-gpu", "The usual causes are GPU memory", OTHER)
untried("mixed-devices", "Create the generator on the device of the tensors", OTHER)


@tries(
    "no-group-backend",
    "Move the tensor to the device of the group's backend",
    "`init_process_group('cpu:gloo,cuda:nccl')`",
)
def collective_on_another_device(advice):
    import torch.distributed as dist

    group("cpu:gloo,cuda:gloo" if "init" in advice else "cuda:gloo")
    if "Move" in advice:
        group_of_cpu = dist.new_group(backend="gloo")
        dist.all_reduce(ONE, group=group_of_cpu)
    else:
        dist.all_reduce(ONE)


untried("no-group-backend", "If a framework calls it", "an explanation")


@tries("fake-mismatch", "Let both return the same", "`torch.library.opcheck(op, args)`", since="2.13")
def fake_with_other_strides(advice):
    f = clone_op()
    f.register_fake(lambda x: torch.empty_like(x) if advice else x.new_empty(2, 3).t())
    if "opcheck" in advice or not advice:
        torch.library.opcheck(f, (torch.ones(3, 2),))
    else:
        torch.compile(lambda x: f(x) * 2, fullgraph=True, backend="aot_eager")(torch.ones(3, 2))


@tries("fake-mismatch", "exclude the function that calls it, `@torch.compiler.disable`", needs="g++", since="2.13")
def fake_with_other_strides_compiled(advice):
    f = clone_op()
    f.register_fake(lambda x: x.new_empty(2, 3).t())
    call = torch.compiler.disable(f) if advice else f
    torch.compile(lambda x: call(x) * 2)(torch.ones(3, 2))


@tries("bad-backward", "Return a gradient, or None, for each argument")
def gradient_too_many(advice):
    f = clone_op()
    f.register_autograd(lambda ctx, g: g if advice else (g, g, g))
    f(training(1.0)).backward()


@tries("bad-backward", "Register the formula for an operator that returns a new tensor")
def formula_of_a_mutation(advice):
    @custom_op("t::g", mutates_args=("x",))
    def g(x: torch.Tensor) -> None:
        x.add_(1)

    f = clone_op() if advice else g
    f.register_autograd(lambda ctx, grad: grad)
    if advice:
        x = training(1.0) * 1
        x.copy_(f(x)).backward()


@tries("bad-backward", "Move the tensors before the `*`")
def tensor_by_keyword(advice):
    if advice:

        @custom_op("t::f", mutates_args=())
        def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    else:

        @custom_op("t::f", mutates_args=())
        def f(x: torch.Tensor, *, y: torch.Tensor) -> torch.Tensor:
            return x + y

        f.register_autograd(lambda ctx, g: g)


@tries("no-grad-fn", "that parameters require a gradient", "`torch.library.register_autograd(op, backward)`")
def loss_without_a_history(advice):
    torch._C._set_autograd_fallback_mode("nothing")
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x.detach() + 1)
    if "register" in advice:
        torch.library.register_autograd("t::f", lambda ctx, g: g)
    x = training(1.0)
    (x * 2 if "parameters" in advice else op(x)).backward()


untried("no-grad-fn", "Go back from the loss", "something to look at")


@tries("vmap-escaped", "Return what you need from the function")
def tensor_kept_by_vmap(advice):
    kept = []

    def f(x):
        kept.append(x)
        return x * 2

    y = torch.vmap(f)(torch.ones(2))
    (y if advice else kept[0]).sin()


@tries("functional-mixed", "an argument of the function, or return a new tensor")
def buffer_under_functionalize(advice):
    kept = torch.zeros(2)

    def f(x, kept):
        return kept.add_(x)

    torch.func.functionalize(f if advice else lambda x, _: f(x, globals_kept[0]))(
        torch.ones(2), kept
    ) if not globals_kept.append(kept) else None


globals_kept = []
untried("functional-mixed", "Keep no tensors of the traced function", "the text comes from PyTorch's own code")


@tries("wrong-mutation", "or name it in `mutates_args`", "let the kernel work on `x.clone()`")
def mutation_without_a_mark(advice):
    @custom_op("t::f", mutates_args=("x",) if "name" in advice else ())
    def f(x: torch.Tensor) -> None:
        (x.clone() if "clone" in advice else x).add_(1)

    torch.library.opcheck(f, (torch.ones(2),), test_utils=("test_schema",))


untried("wrong-mutation", "Do not compile or export the call", "nothing to try")


@tries("no-registration-api", "Ask `hasattr(torch.library, 'register_fake')`")
def function_of_a_newer_release(advice):
    name = "register_fake" if advice else "register_fake_of_tomorrow"
    if not advice or hasattr(torch.library, name):
        getattr(torch.library, name)


untried("no-registration-api", "Install versions that belong together", "needs another build")


@tries("no-rule", "or on plain tensors", "`op.py_impl(key_or_mode_class)(function)`")
def mode_without_a_rule(advice):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    op = half()
    if "py_impl" in advice:
        op.py_impl(Mode)(lambda mode, x: x / 2)
    with torch._C._AutoDispatchBelowAutograd(), contextlib.nullcontext() if "plain" in advice else Mode():
        op(ONE)


@tries("autograd-graph", "`backward(retain_graph=True)` the first time")
def backward_twice(advice):
    y = training(2.0).sin()
    y.backward(retain_graph=bool(advice))
    y.backward()


@tries("autograd-graph", "the operator that returns its result", "or change a copy")
def changed_before_backward(advice):
    y = training(1.0).exp()
    if "returns" in advice:
        y = y.add(1)
    elif advice:
        y.clone().add_(1)
    else:
        y.add_(1)
    y.backward()


@tries("not-traced", "Without `fullgraph=True` the graph breaks there")
def break_in_the_graph(advice):
    def f(x):
        torch._dynamo.graph_break()
        return x + 1

    assert torch.compile(f, backend="eager", fullgraph=not advice)(ONE).sum() == 8


@tries("not-traced", "Or exclude the function", "Make it an operator")
def function_of_c_plus_plus(advice):
    import time

    def wait(x):
        time.sleep(0)
        return x + 1

    if "operator" in advice:

        @custom_op("t::f", mutates_args=())
        def call(x: torch.Tensor) -> torch.Tensor:
            return wait(x)

        call.register_fake(torch.empty_like)
    else:
        call = torch.compiler.disable(wait) if advice else wait
    whole = not advice or "operator" in advice
    assert torch.compile(lambda x: call(x) * 2, backend="eager", fullgraph=whole)(ONE).sum() == 16


@tries("not-traced", "Use one tracer only")
def tracer_in_a_tracer(advice):
    f = torch.compile(torch.sin, backend="eager")
    torch.fx.symbolic_trace(lambda x: torch.sin(x) if advice else f(x))


@tries(
    "not-traced", "`torch.compile(backend='aot_eager')`", "Pass `override_decomp=True` to make_fallback", since="2.13"
)
def fallback_beside_a_decomposition(advice):
    from torch._inductor.decomposition import decompositions
    from torch._inductor.lowering import make_fallback

    if "aot_eager" in advice:
        torch.compile(lambda x: x.t() * 2, backend="aot_eager")(ONE)
    else:
        make_fallback(next(iter(decompositions)), override_decomp=bool(advice))


@tries("not-exported", "call what its `forward` does directly", "Make it an operator: torch.library.custom_op")
def function_in_torchscript(advice):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    f = clone_op()
    call = (lambda x: x * 2) if "forward" in advice else f if advice else Double.apply
    torch.jit.trace(call if not advice or "forward" in advice else lambda x: torch.ops.t.f(x), ONE).save("/dev/null")


EXPORTER = "needs the package onnxscript, or ExecuTorch"
untried("not-exported", "Pass a higher `opset_version`", EXPORTER)
untried("not-exported", "Else replace the operator in the model", EXPORTER)
untried("not-exported", "Export the model in eval mode", EXPORTER)
untried("not-exported", "Or allow it, `EdgeCompileConfig", EXPORTER)
untried("bad-registration", "If it is an assertion instead", "needs C++")
untried("no-stub", "Register a kernel of aten::{function}_overrideable", "needs C++")
untried("no-device-module", "Register a guard for the device in C++", "needs C++")
untried("undefined-symbol", "The library is PyTorch's own", OTHER)
untried("no-derivative", "Try a newer PyTorch", "needs another build")
untried("internal-assert", "Try a newer PyTorch", "the texts are faults of PyTorch")
untried("not-defined", "build PyTorch with this operator", OTHER)
untried("no-library-file", "If it names a library of PyTorch", OTHER)
untried("no-library-file", "If Python runs in the folder of the package's sources", OTHER)
untried("no-subclass", "Call it on an ordinary tensor", OTHER)


@tries("bad-registration", "Compare the registration with that")
def name_without_a_namespace(advice):
    torch.library.define("t::f" if advice else "f", "(Tensor x) -> Tensor")


def _checked(test, backward=None, fake=None, mutates=(), body=lambda x: x + 1):
    @custom_op("t::f", mutates_args=mutates)
    def f(x: torch.Tensor) -> torch.Tensor:
        return body(x)

    f.register_fake(fake or (lambda x: torch.empty_like(x)))
    if backward:
        f.register_autograd(backward)
    _opcheck_cut_short(f, training(1.0, 2.0) if backward else torch.ones(2), test)


def _opcheck_cut_short(op, x, test):
    """Without the cause, as people paste it; with it, the text of the cause is explained."""
    try:
        torch.library.opcheck(op, (x,), test_utils=(test,))
    except Exception as error:
        raise RuntimeError(f"{str(error).partition(' failed with ')[0]} failed with") from None


@tries("opcheck", "Mark arguments that are changed")
def checked_schema(advice):
    _checked("test_schema", mutates=("x",) if advice else (), body=lambda x: x.add_(1) * 2)


@tries("opcheck", "Let the fake implementation return the shape")
def checked_fake(advice):
    _checked("test_faketensor", fake=None if advice else lambda x: x.new_empty(3))


@tries("opcheck", "Use only operators on tensors in the backward")
def checked_backward(advice):
    _checked("test_aot_dispatch_dynamic", backward=lambda ctx, g: g * 2 if advice else torch.from_numpy(g.numpy() * 2))


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


@tries("opcheck", "Use register_autograd, or a kernel at the key Autograd")
def checked_registration(advice):
    op = define("t::f", "(Tensor x) -> Tensor", **{"Autograd" if advice else "CPU": Twice.apply})
    _opcheck_cut_short(op, training(1.0), "test_autograd_registration")


@tries("bad-backward", "Register the backward at an autograd key")
def backward_in_the_kernel_of_a_device(advice):
    op = define("t::f", "(Tensor x) -> Tensor", **{"Autograd" if advice else "CPU": Twice.apply})
    torch.library.opcheck(op, (training(1.0),), test_utils=("test_autograd_registration",))


@tries("no-rule", "`@my_op.register_kernel('", since="2.13")
def custom_op_of_another_device(advice):
    @custom_op("t::f", mutates_args=(), device_types="cuda")
    def f(device: torch.device) -> torch.Tensor:
        return torch.ones(2)

    if advice:
        f.register_kernel("cpu")(lambda device: torch.ones(2))
    assert f(torch.device("cpu")).sum() == 2


@tries("mixed-dtensor", "call it on local tensors, `x.to_local()`", "Register a rule", since="2.13")
def plain_tensor_in_a_custom_op(advice):
    from torch.distributed.tensor import Replicate, distribute_tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = define("t::f", "(Tensor x, Tensor y) -> Tensor", CPU=lambda x, y: x + y)
    torch.library.register_fake("t::f", lambda x, y: torch.empty_like(x))
    where = mesh()
    x, y = distribute_tensor(ONE, where, [Replicate()]), torch.ones(2, 2)
    if "rule" in advice:
        y = distribute_tensor(y, where, [Replicate()])

        @register_sharding(op.default)
        def strategy(x, y):
            return [([Replicate()], [Replicate(), Replicate()])]

    assert op(x.to_local() if "to_local" in advice else x, y).sum() == 8


untried("no-sharding", "Or change the placement of an argument", "needs several processes")
untried("no-sharding", "Pass the DTensor as a positional argument", "the text is of older versions")
untried("no-sharding", "Or create both on one mesh", "needs several processes")


@tries("bad-backward", "Write `forward` and `backward` as static methods")
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
