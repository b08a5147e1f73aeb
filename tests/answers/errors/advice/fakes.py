"""Texts about fake and meta tensors, and about symbols in place of sizes."""

import ctypes

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.library import custom_op

from tests.answers.errors.advice.slots import define
from tests.answers.errors.advice.trial import tries, untried


def compiled(function, **options):
    return torch.compile(function, backend="aot_eager", **{"fullgraph": True, **options})


def clone_op(name="t::f", **options):
    """A custom operator that adds one, without a fake implementation."""

    @custom_op(name, mutates_args=(), **options)
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    return f


@tries(
    "no-fake",
    "The operator works without torch.compile",
    "exclude the function that does, `@torch.compiler.disable`",
    "`@my_op.register_fake` on a function",
)
def custom_op_compiled(advice):
    f = clone_op()
    if "register_fake" in advice:
        f.register_fake(lambda x: torch.empty_like(x))
    call = f if "without" in advice else compiled(f)
    if "exclude" in advice:
        excluded = torch.compiler.disable(lambda x: f(x))
        call = compiled(lambda x: excluded(x), fullgraph=False)
    assert call(torch.ones(2)).sum() == 4


@tries(
    "data-dependent",
    "pass `shape_env=ShapeEnv()`, and fake tensors",
    "torch.where instead of a mask",
)
def size_that_depends_on_data(advice):
    with FakeTensorMode(shape_env=ShapeEnv() if "shape_env" in advice else None):
        x = torch.ones(2)
        if "where" in advice:
            torch.where(x > 0, x, 0)
        else:
            torch.masked_select(x, x > 0)


@tries(
    "data-dependent",
    "torch._dynamo.config.capture_dynamic_output_shape_ops = True",
    "so that the graph breaks there",
    until="2.4",
)
def size_of_data_compiled(advice):
    torch._dynamo.config.capture_dynamic_output_shape_ops = "capture" in advice
    called = torch.compile(lambda x: x.nonzero() * 2, backend="eager", fullgraph="breaks" not in advice)
    assert called(torch.ones(2)).sum() == 2


@tries("data-dependent", "get it from `torch.library.get_ctx().new_dynamic_size()`")
def fake_of_an_unknown_size(advice):
    @custom_op("t::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero().flatten()

    f.register_fake(
        lambda x: (
            x.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.long)
            if advice
            else x.nonzero().flatten()
        )
    )
    if advice:
        compiled(f)(torch.ones(2))
    else:
        with FakeTensorMode():
            f(torch.ones(2))


@tries("data-dependent", "Use torch.where or torch.cond instead of a Python `if`")
def condition_on_a_fake_tensor(advice):
    with FakeTensorMode():
        x = torch.ones(2)
        if advice:
            torch.where(x.sum() > 0, x, -x)
        else:
            x if x.sum() > 0 else -x


@tries("data-dependent", "`n = x.sum().item()` is a symbol, which operators take", "`x.sum().long().item()`")
def number_of_a_traced_tensor(advice):
    def f(x):
        n = x.sum()
        if "long" in advice:
            return x.new_zeros(n.long().item())
        return x * n.item() if advice else x.new_zeros(int(n.long()))

    assert make_fx(f, tracing_mode="symbolic")(torch.ones(2))(torch.ones(2)).sum() == (0 if "long" in advice else 4)


@tries("data-dependent", "leave `fullgraph=True` out", "or exclude the function: `@torch.compiler.disable`")
def tensors_compared_in_compiled_code(advice):
    def compared(x):
        return x + 1 if torch.equal(x, x) else x

    call = torch.compiler.disable(compared) if "disable" in advice else compared
    assert torch.compile(lambda x: call(x) * 2, backend="eager", fullgraph=not advice)(torch.ones(2)).sum() == 8


@tries("data-dependent", "`FakeTensorMode(shape_env=ShapeEnv())`")
def value_of_a_fake_tensor(advice):
    mode = FakeTensorMode(shape_env=ShapeEnv() if advice else None)
    with mode:
        mode.from_tensor(torch.ones(2)).sum().item()


@tries("data-dependent", "`torch._dynamo.config.capture_scalar_outputs = True`", until="2.4")
def value_of_a_tensor_in_compiled_code(advice):
    with torch._dynamo.config.patch(capture_scalar_outputs=bool(advice)):
        assert compiled(lambda x: x * x.sum().item())(torch.ones(2)).sum() == 4


@tries("data-dependent", "`make_fx(f, tracing_mode='symbolic')`")
def value_of_a_traced_tensor(advice):
    traced = make_fx(lambda x: x * x.sum().item(), tracing_mode="symbolic" if advice else "real")(torch.ones(2))
    assert traced(torch.ones(2)).sum() == 4


@tries(
    "data-dependent",
    "use only the shapes and dtypes of the arguments",
    "torch.library.get_ctx().new_dynamic_size()",
)
def fake_that_reads_data(advice):
    @custom_op("t::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero().flatten()

    def fake(x):
        if "shapes" in advice:
            return x.new_empty(x.shape[0], dtype=torch.long)
        if "dynamic" in advice:
            return x.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.long)
        return x.new_empty(int((x != 0).sum().item()), dtype=torch.long)

    f.register_fake(fake)
    with FakeTensorMode(shape_env=ShapeEnv() if advice else None) as mode:
        f(mode.from_tensor(torch.ones(2)))


@tries(
    "fake-mixed",
    "Make the tensor an argument or a buffer",
    "`fake_mode.from_tensor(x)` converts one",
    "allow_non_fake_inputs=True",
)
def real_beside_fake(advice):
    table = torch.ones(2)
    mode = FakeTensorMode(allow_non_fake_inputs="allow" in advice)
    x = mode.from_tensor(torch.ones(2))
    with mode:
        if "from_tensor" in advice:
            table = mode.from_tensor(table)
        if "argument" in advice:
            make_fx(lambda x, table: x + table, tracing_mode="fake")(torch.ones(2), table)
        else:
            x + table


@tries("fake-mixed", "Do not use real tensors in a fake implementation")
def fake_with_a_cached_table(advice):
    f = clone_op()
    table = torch.ones(2)
    f.register_fake(lambda x: torch.empty_like(x) if advice else x + table)
    with FakeTensorMode():
        f(torch.ones(2))


@tries("fake-mixed", "use one for all tensors")
def two_modes(advice):
    first = FakeTensorMode()
    x = first.from_tensor(torch.ones(2))
    second = torch._guards.detect_fake_mode((x,)) if advice else FakeTensorMode()
    x + second.from_tensor(torch.ones(2))


@tries("no-data", "`@torch.compiler.disable`", "Make the code an operator")
def code_that_reads_memory(advice):
    def doubled(x):
        y = torch.empty_like(x)
        ctypes.memmove(y.data_ptr(), x.data_ptr(), x.numel() * 4)
        return y

    if "operator" in advice:
        doubled.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
        call = custom_op("t::doubled", doubled, mutates_args=())
        call.register_fake(lambda x: torch.empty_like(x))
        assert compiled(call)(torch.ones(2)).sum() == 2
    elif "disable" in advice:
        call = torch.compiler.disable(doubled)
        assert torch.compile(lambda x: call(x) * 2, backend="aot_eager")(torch.ones(2)).sum() == 4
    else:
        make_fx(doubled, tracing_mode="fake")(torch.ones(2))


@tries("mixed-devices", "to one device: `model.to(device)`, `x.to(device)`")
def fakes_on_two_devices(advice):
    with FakeTensorMode():
        torch.ones(2) + torch.empty(2, device="cpu" if advice else "cuda")


@tries("mixed-devices", "Create a tensor that the program makes itself")
def fake_on_the_cpu(advice):
    f = clone_op()
    f.register_fake(lambda x: torch.empty(x.shape, device=x.device) if advice else torch.empty(x.shape))
    with FakeTensorMode():
        x = torch.empty(2, device="cuda")
        f(x) + x


@tries("no-data", "load the model whole")
def module_on_meta(advice):
    layer = torch.nn.Linear(2, 2, device="cpu" if "whole" in advice else "meta")
    layer = layer.to_empty(device="cpu") if "to_empty" in advice else layer.to("cpu")
    if "to_empty" in advice:
        layer.load_state_dict(torch.nn.Linear(2, 2).state_dict())
    layer(torch.ones(2))


@tries("mixed-devices", "load the whole model", "For shapes alone: `x.to('meta')`")
def meta_beside_cpu(advice):
    x, layer = torch.ones(2), torch.nn.LayerNorm(2, device="cpu" if "whole" in advice else "meta")
    torch.add(x.to("meta") if "shapes" in advice else x, layer.weight)


@tries(
    "data-dependent",
    "`torch._check(n != 0)`",
    "Use torch.where or torch.cond instead of a Python `if`",
    "leave `fullgraph=True` out",
    "`@torch.compiler.disable`",
    "integers of Python",
)
def condition_on_a_symbol(advice):
    def body(x):
        n = 5 if "integers" in advice else x.sum().item()
        if "_check" in advice:
            torch._check(n != 0)
        if "where" in advice:
            return torch.where(x.sum() > 3, x + 1, x)
        return x if n == 0 else x + 1

    torch._dynamo.config.capture_scalar_outputs = True
    if "disable" in advice:
        inner = torch.compiler.disable(body)
        called = torch.compile(lambda x: inner(x) * 1, backend="eager")
    else:
        called = torch.compile(body, backend="eager", fullgraph="fullgraph" not in advice)
    assert called(torch.ones(5, dtype=torch.int64)).sum() == 10


@tries("no-meta", "run it with real tensors", "`torch.where(mask, x, 0)`")
def size_of_data_of_meta_tensors(advice):
    x = torch.ones(2) if "real" in advice else torch.ones(2, device="meta")
    mask = x > 0
    assert (torch.where(mask, x, 0) if "where" in advice else x.masked_select(mask)).shape == (2,)


@tries("no-meta", "`torch.nonzero_static(x, size=n)`", until="2.4")
def indices_of_meta_tensors(advice):
    x = torch.ones(2, device="meta")
    assert (torch.nonzero_static(x, size=2) if advice else x.nonzero()).shape == (2, 1)


@tries("data-dependent", "get it from `torch.library.get_ctx().new_dynamic_size()`")
def fake_that_compares_a_symbol(advice):
    f = custom_op("t::f", _nonzero, mutates_args=())

    def fake(x):
        n = torch.library.get_ctx().new_dynamic_size()
        if advice:
            torch._check(n > 1)
        elif n < 2:
            return x.new_empty(2, dtype=torch.long)
        return x.new_empty(n, dtype=torch.long)

    f.register_fake(fake)
    compiled(f)(torch.ones(5))


def _nonzero(x: torch.Tensor) -> torch.Tensor:
    return x.nonzero().flatten()


@tries("no-data", "vmap, jvp, grad and functionalize: call it outside of the transform")
def memory_under_vmap(advice):
    def copied(x):
        y = torch.empty_like(x)
        ctypes.memmove(y.data_ptr(), x.data_ptr(), x.numel() * 4)
        return y

    x = torch.ones(2, 2)
    assert (copied(x) if advice else torch.func.vmap(copied)(x)).sum() == 4


@tries(
    "symbolic-sizes",
    "`torch.compile(f, dynamic=False)`",
    "`@torch.compiler.disable`",
    "create results by `x.new_empty(...)`",
)
def real_tensor_of_a_symbolic_size(advice):
    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)

    @torch.library.register_fake("t::f")
    def fake(x):
        if "new_empty" not in advice:
            with torch._C._DisableTorchDispatch():
                torch.empty(x.shape)
        return x.new_empty(x.shape)

    call = torch.compiler.disable(op) if "disable" in advice else op
    fixed = "dynamic" in advice
    torch.compile(lambda x: call(x) * 2, backend="eager", fullgraph="disable" not in advice, dynamic=not fixed)(
        torch.ones(2)
    )


untried("symbolic-sizes", "Take sizes as symbols", "needs a C++ compiler")


@tries("no-data", "read the pointers of those inside")
def address_of_a_tensor_that_wraps(advice):
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError(func)

    x = Wrapper(torch.ones(2))
    assert (x.inner if advice else x).untyped_storage().data_ptr()
