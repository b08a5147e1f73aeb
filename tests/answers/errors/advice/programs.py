"""Texts about programs that are traced, scripted, wrapped or trained in another way than they were written for."""

import contextlib
import io
import types
import warnings
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.checkpoint import checkpoint

from tests.answers.errors.advice.gradients import training
from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@contextlib.contextmanager
def process_group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


@tries("backward-call", "Let it require one before the forward", "or leave it out if it is frozen")
def gradient_of_a_frozen_parameter(advice):
    layer = torch.nn.Linear(2, 2)
    layer.bias.requires_grad_(advice.startswith("Let"))
    parameters = [p for p in layer.parameters() if p.requires_grad or "leave" not in advice]
    assert torch.autograd.grad(layer(torch.ones(2)).sum(), parameters)[0].sum() == 4


@tries("backward-call", "pass `use_reentrant=False`", unchanged=("ignore it where nothing is trained",))
def checkpoint_of_inputs_without_gradients(advice):
    warnings.simplefilter("always")
    layer = torch.nn.Linear(2, 2)
    y = checkpoint(layer, torch.ones(2), use_reentrant=not advice)
    if advice:
        y.sum().backward()
        assert layer.weight.grad.sum() == 4


@tries("backward-call", "`torch.sqrt(x + 1e-8)`", "`x.clamp(min=1e-8)`")
def root_of_zero(advice):
    x = training(0.0)
    inside = x + 1e-8 if "sqrt" in advice else x.clamp(min=1e-8) if advice else x
    with torch.autograd.detect_anomaly(check_nan=True):
        (torch.sqrt(inside) * 0).sum().backward()


@tries("backward-call", "donated_buffer = False", "leave out `retain_graph`", since="2.6")
def compiled_graph_used_twice(advice):
    torch._functorch.config.donated_buffer = "False" not in advice
    w = torch.ones(2, 2, requires_grad=True)
    called = torch.compile(lambda w: torch.sigmoid(torch.ones(2, 2) @ w) @ w, backend="aot_eager")
    called(w).sum().backward()
    called(w).sum().backward(retain_graph="leave" not in advice)


untried("backward-call", "Call `model.train()` before that forward", GPU)


@tries("computed-tensor", "`x.to(device).detach().requires_grad_()`")
def optimizer_of_a_computed_tensor(advice):
    x = torch.ones(2, requires_grad=True).to(torch.float64)
    torch.optim.SGD([x.detach().requires_grad_() if advice else x], lr=0.1)


@tries("computed-tensor", "`y.retain_grad()`")
def gradient_of_a_result(advice):
    y = training(1.0) * 2
    if advice:
        y.retain_grad()
    y.sum().backward()
    assert (y.grad is not None) == bool(advice)


@tries("computed-tensor", "`x.detach().cpu().numpy()`", "compute it under `torch.no_grad()`")
def array_of_a_tensor_with_a_history(advice):
    x = training(1.0)
    with torch.no_grad() if "no_grad" in advice else contextlib.nullcontext():
        y = x * 2
    assert (y.detach().cpu() if "detach" in advice else y).numpy() == 2


@tries("assigned-data", "Replace the parameter")
def data_of_another_layout(advice):
    layer, sparse = torch.nn.Linear(2, 2), torch.eye(2).to_sparse()
    if advice:
        layer.weight = torch.nn.Parameter(sparse, requires_grad=False)
    else:
        layer.weight.data = sparse
    assert layer.weight.is_sparse


@tries("assigned-data", "`p.grad = g.to(p)`")
def gradient_of_another_dtype(advice):
    p, g = training(1.0), torch.ones(1, dtype=torch.float64)
    p.grad = g.to(p) if advice else g


@tries("assigned-data", "`p.grad = None`, before the model")
def gradient_of_a_moved_tensor(advice):
    p = training(1.0)
    (p * 2).sum().backward()
    g, p.grad = p.grad, None
    p.data = p.data.double()
    p.grad = None if advice else g


@tries("assigned-data", "Convert what is trained", "train in bfloat16 without a scaler")
def scaler_of_half_gradients(advice):
    layer = torch.nn.Linear(2, 2, dtype=torch.bfloat16 if "bfloat16" in advice else torch.float16)
    for p in layer.parameters() if "Convert" in advice else ():
        p.data = p.data.float()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    if "without" in advice:
        layer(torch.ones(2, dtype=torch.bfloat16)).sum().backward()
        optimizer.step()
        return
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(layer(torch.ones(2, dtype=layer.weight.dtype)).sum()).backward()
    scaler.step(optimizer)


untried("not-deterministic", "CUBLAS_WORKSPACE_CONFIG=:4096:8", GPU)


@tries("flat-parameters", "Pass `use_orig_params=True`", "wrap what is frozen apart")
def frozen_parameters_of_a_flat_one(advice):
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    module[0].requires_grad_(False)
    with process_group():
        if "apart" in advice:
            module[0] = FullyShardedDataParallel(module[0], device_id=torch.device("cpu"))
        FullyShardedDataParallel(module, device_id=torch.device("cpu"), use_orig_params="orig" in advice)


@tries("flat-parameters", "Convert all before")
def dtypes_of_a_flat_parameter(advice):
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, dtype=torch.bfloat16))
    with process_group():
        FullyShardedDataParallel(module.to(torch.bfloat16) if advice else module, device_id=torch.device("cpu"))


class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = True

    def forward(self, x, flag=None, y=None):
        if self.flag if y is not None else flag is None and x.sum() > 0:
            return x + 1
        return x


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Chosen()

    def forward(self, x):
        return self.inner(x)


class Whole(torch.fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Chosen)


@tries(
    "symbolic-trace",
    "`torch.fx.symbolic_trace(m, concrete_args={'flag': False})`",
    "an attribute that is set before",
    "use torch.where",
    "`is_leaf_module` of a Tracer",
    "Or use torch.export",
)
def condition_that_depends_on_an_argument(advice):
    def flagged(x, flag=None):
        return x + 1 if flag else x

    def chosen(x):
        return torch.where(x > 0, x + 1, x)

    if "concrete_args" in advice:
        torch.fx.symbolic_trace(flagged, concrete_args={"flag": False})
    elif "where" in advice:
        torch.fx.symbolic_trace(chosen)
    elif "leaf" in advice:
        Whole().trace(Outer())
    elif "export" in advice:
        torch.export.export(SizeChosen(), (torch.ones(2),))
    elif advice:
        torch.fx.symbolic_trace(AttributeChosen())
    else:
        torch.fx.symbolic_trace(SizeChosen())


class SizeChosen(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.size(0) > 1 else x


class AttributeChosen(torch.nn.Module):
    flag = True

    def forward(self, x):
        return x + 1 if self.flag else x


def length(x):
    return len(x)


@tries("symbolic-trace", "call `torch.fx.wrap('f')` at the top of its module", "`wrap('len')`")
def length_of_an_argument(advice):
    source = "def f(x):\n    return len(x)\ndef g(x):\n    return f(x)\ndef h(x):\n    return len(x)\n"
    wrapped = "f" if "'f'" in advice else "len"
    module = types.ModuleType("traced")
    exec(f"import torch\n{f'torch.fx.wrap({wrapped!r})' if advice else ''}\n{source}", vars(module))
    graph = torch.fx.symbolic_trace(module.g if "'f'" in advice else module.h)
    assert graph(torch.ones(3)) == 3


class Listed(torch.nn.Module):
    def __init__(self, advice):
        super().__init__()
        layers = [torch.nn.Linear(2, 2)]
        self.layers = torch.nn.ModuleList(layers) if advice else layers

    def forward(self, x):
        return self.layers[0](x)


@tries("symbolic-trace", "Keep it as an attribute of the traced module")
def module_in_a_list(advice):
    torch.fx.symbolic_trace(Listed(advice))


@tries("symbolic-trace", "Trace the module itself, `m._orig_mod`", "error_on_nested_fx_trace = False")
def compiled_module_that_is_traced(advice):
    module = torch.nn.Sequential(torch.compile(torch.nn.ReLU(), backend="eager"))
    torch._dynamo.config.error_on_nested_fx_trace = "nested" not in advice
    torch.fx.symbolic_trace(module[0]._orig_mod if "itself" in advice else module)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class UsesFunction(torch.nn.Module):
    def forward(self, x):
        return Doubled.apply(x)


@torch.jit.ignore
def ignored(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class UsesIgnored(torch.nn.Module):
    def forward(self, x):
        return ignored(x)


class UsesPlain(torch.nn.Module):
    def forward(self, x):
        return x * 2


@tries("not-scripted", "write it with plain operators")
def saved_autograd_function(advice):
    torch.jit.save(torch.jit.trace(UsesPlain() if advice else UsesFunction(), torch.ones(2)), io.BytesIO())


@tries("not-scripted", "trace the module, `torch.jit.trace(m, x)`")
def saved_function_that_is_ignored(advice):
    module = UsesIgnored()
    torch.jit.save(torch.jit.trace(module, torch.ones(2)) if advice else torch.jit.script(module), io.BytesIO())


class Returned:
    def __init__(self, x):
        self.x = x


@tries("not-scripted", "Take and return tensors", "trace a module that calls yours")
def traced_function_that_returns_an_object(advice):
    def f(x):
        return x + 1 if "Take" in advice else Returned(x + 1)

    torch.jit.trace((lambda x: (f(x).x,)) if "calls" in advice else f, torch.ones(2))


@tries("not-scripted", "For a dict pass `strict=False`")
def traced_function_that_returns_a_dict(advice):
    torch.jit.trace(lambda x: {"y": x + 1}, torch.ones(2), strict=not advice)


@tries("not-scripted", "Make it a parameter, buffer or submodule", "or detach it before", "by a ModuleList")
def traced_constant(advice):
    layers = [torch.nn.Linear(2, 2)]
    weight = training(1.0, 2.0).detach() if "detach" in advice else training(1.0, 2.0)
    if "parameter" in advice:
        torch.jit.trace(Kept(), torch.ones(2))
    elif "list" in advice.lower():
        torch.jit.trace(torch.nn.Sequential(*layers), torch.ones(2))
    else:
        torch.jit.trace(lambda x: x * weight, torch.ones(2))


class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


@tries("not-scripted", "by a ModuleList")
def traced_module_in_a_list(advice):
    class Calls(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(layers) if advice else layers

        def forward(self, x):
            return self.layers[0](x)

    layers = [torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(2))]
    torch.jit.trace(Calls(), torch.ones(2))


@tries("not-scripted", "Trace after `model.eval()`")
def traced_dropout(advice):
    model = torch.nn.Dropout()
    warnings.simplefilter("always")
    torch.jit.trace(model.eval() if advice else model, torch.ones(40))


@torch.jit.script
def chosen(x):
    if bool(x.sum() > 0):
        return x + 1
    return x


@tries("not-scripted", "put it into a function with `@torch.jit.script`")
def traced_condition(advice):
    warnings.simplefilter("always")
    traced = torch.jit.trace(chosen if advice else (lambda x: x + 1 if x.sum() > 0 else x), torch.ones(2))
    assert traced(torch.zeros(2)).sum() == (0 if advice else 2)


class Holds(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.scale = value

    def forward(self, x):
        return x if self.scale is None else x + 1


class Annotated(Holds):
    scale: int | None


@tries("not-scripted", "leave methods out by `@torch.jit.ignore`", "Annotate attributes in the class")
def script_of_a_module_with_an_object(advice):
    torch.jit.script(Annotated(None) if "Annotate" in advice else Holds(None if advice else object()))


untried("not-compiled", "Install a newer PyTorch (Python 3.12", "needs another Python")
untried("not-compiled", "Keep `.item()`, `.cpu()` and nonzero out", GPU)


@dataclass
class Point:
    x: torch.Tensor


class Reads(torch.nn.Module):
    def forward(self, point):
        return point["x"] + 1 if isinstance(point, dict) else point.x + 1


@tries("not-compiled", "Pass tensors, numbers, tuples and dicts", "register a dataclass", since="2.8")
def exported_argument_of_a_class(advice):
    if "register" in advice:
        torch.export.register_dataclass(Point)
    x = torch.ones(2)
    torch.export.export(Reads(), ({"x": x} if "Pass" in advice else Point(x),), strict=False)


class Assigns(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.y = None

    def forward(self, x):
        self.y = x + 1
        return self.y * 2


@tries("changed-in-place", "`strict=False` may do", until="2.8")
def exported_module_that_assigns_an_attribute(advice):
    torch.export.export(Assigns(), (torch.ones(2),), strict=not advice)


@tries("mixed-dtypes", "Dequantize the tensor, `x.dequantize()`", "or quantize that layer, too")
def quantized_weight_that_is_loaded(advice):
    q = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    x = torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8) if "layer" in advice else torch.ones(2)
    x.copy_(q.dequantize() if "Dequantize" in advice else q)


untried("no-dtype", "Quantize the model as before", "needs an older PyTorch")
untried("mixed-devices", "If it is on a GPU that is not the current one", GPU)
untried("other-text", "Detach results that no loss uses", "needs several processes")
