"""Texts of torch.compile, torch.export, torch.fx and TorchScript about what they do not trace."""

import binascii
import os
import subprocess
import sys

import torch
from torch.distributed._tensor import DTensor
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx

from tests.answers.errors.advice.modes import mesh
from tests.answers.errors.advice.trial import tries, untried


def clamped(x, flag):
    return x.relu() if flag else x


@tries("data-dependent", "Give the arguments that decide", "or use torch.export")
def branch_under_symbolic_trace(advice):
    class Branch(torch.nn.Module):
        def forward(self, x, flag):
            return clamped(x, flag)

    if "export" in advice:
        traced = torch.export.export(Branch(), (torch.ones(2), True)).module()
    else:
        traced = torch.fx.symbolic_trace(Branch(), concrete_args={"flag": True} if advice else None)
    assert traced(-torch.ones(2), True).sum() == 0


@tries("compile-refused", "Trace or export the module itself", "error_on_nested_fx_trace = False")
def tracer_of_a_compiled_module(advice):
    module = torch.nn.Linear(2, 2)
    compiled = module if "itself" in advice else torch.compile(module, backend="eager")
    with torch._dynamo.config.patch(error_on_nested_fx_trace="error" not in advice):
        make_fx(lambda x: compiled(x))(torch.ones(1, 2))


@tries("compile-refused", "run the program with TORCHDYNAMO_DISABLE=1")
def tracer_of_a_compiled_function(advice):
    code = "import torch; torch.jit.trace(torch.compile(torch.nn.Linear(2, 2)), torch.ones(1, 2))"
    environment = {**os.environ, **({"TORCHDYNAMO_DISABLE": "1"} if advice else {})}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@tries("compile-refused", "call `detach()` on those outputs", "Return ordinary tensors")
def gradient_of_another_class(advice):
    from torch.distributed._tensor import DTensor, Replicate, distribute_tensor

    x = distribute_tensor(torch.ones(3), mesh(), [Replicate()]).requires_grad_()

    def f(x):
        y = x * 3
        results = x * 2, y.detach() if "detach" in advice else y
        return [result.to_local() for result in results] if "ordinary" in advice else results

    loss = torch.compile(f, backend="aot_eager")(x)[0].sum()
    (loss.to_local() if isinstance(loss, DTensor) else loss).backward()


@tries("compile-refused", "Take the fixes that the text suggests", "`Dim.AUTO` in place of a named Dim", since="2.6")
def size_that_is_constant(advice):
    class Four(torch.nn.Module):
        def forward(self, x):
            return x.reshape(4, -1)

    size = 4 if "fixes" in advice else Dim.AUTO if advice else Dim("b", max=64)
    torch.export.export(Four(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: size}})


@tries("compile-refused", "give an example of at least 2")
def size_of_one(advice):
    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    torch.export.export(
        Twice(), (torch.ones(2 if advice else 1, 3),), dynamic_shapes={"x": {0: Dim("b", max=64)}}, strict=True
    )


@tries("compile-refused", "write what Dynamo traces")
def branch_with_a_graph_break(advice):
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3 if advice else x * x.data_ptr(), (x,))

    assert torch.compile(f, backend="eager", fullgraph=True)(torch.ones(2)).sum() == 4


@tries("compile-refused", "as one of them", "let the program return a new tensor", until="2.4")
def change_of_an_input_given_twice(advice):
    class Sum(torch.nn.Module):
        def forward(self, x, y):
            return (x + 1 if "new" in advice else x.add_(1)) + y

    x = torch.ones(3)
    torch.export.export(Sum(), (x, x.clone() if "them" in advice else x)).run_decompositions()


@tries("changed-in-place", "or change a copy")
def change_of_overlapping_elements(advice):
    def f(x):
        windows = (x + 1).unfold(0, 3, 2)
        return (windows.clone() if advice else windows).abs_()

    torch.compile(f, backend="aot_eager", fullgraph=True)(torch.ones(5))


def asarray(x):
    return torch.asarray(x)


def as_tensor(x):
    return torch.as_tensor(x)


@tries("not-scripted", "Call an operator that does the same", "call the function in one of your own that is traced")
def function_without_an_operator(advice):
    traced = torch.jit.trace(asarray, torch.ones(2))

    def call(x):
        return traced(x)

    scripted = torch.jit.script(as_tensor if "operator" in advice else call if advice else asarray)
    assert scripted(torch.ones(2)).sum() == 2


def annotated(x):
    # type: (torch.tensor) -> torch.Tensor
    return x


def annotated_well(x):
    # type: (torch.Tensor) -> torch.Tensor
    return x


@tries("not-scripted", "Else annotate with types that TorchScript has")
def annotation_of_another_type(advice):
    torch.jit.script(annotated_well if advice else annotated)


SEVERAL = "needs several processes"
OTHER = "needs another build"
COMPILER = "needs a compiler of C++ or CUDA"
untried("compile-refused", "Turn that optimizer off", SEVERAL)
untried("compile-refused", "Take another Python", "needs another Python")
untried("compile-refused", "Install torch again by pip", "needs another triton")
untried("other-text", "Change the placement first", SEVERAL)
untried("other-text", "A traced program keeps what its example was", "a diagnosis")
untried("other-text", "Call `torch.export.export` alone", "a diagnosis")
untried("compile-refused", "Install a C++ compiler", "needs a machine without one")
untried("compile-refused", "Give your class the method", "the class of the trial has it")
untried("not-scripted", "a newer PyTorch saved the file", OTHER)
untried("not-exported", "Pass `opset_version={expected}`", "needs the packages of the exporter")
untried("not-exported", "Use a newer release of the exporter", "needs other packages")
untried("not-in-runtime", "Link a library of kernels", "needs ExecuTorch")
untried("not-in-runtime", "Decompose the operators", "needs ExecuTorch")
untried("not-in-runtime", "Register an operator of your own", "needs ExecuTorch")
untried("no-sharding", "Bring all parameters to one floating-point dtype", SEVERAL)
untried("no-sharding", "Pass `use_orig_params=True`", SEVERAL)
untried("no-sharding", "Or use `torch.distributed.fsdp.fully_shard`", SEVERAL)
untried("no-sharding", "Under FSDP and ZeRO-3 parameters have their shape only", SEVERAL)
untried("no-api", "Install the PyTorch for which", OTHER)
untried("no-api", "Install a build of PyTorch with CUDA", OTHER)
untried("no-api", "If the traceback is of `import torch` itself", OTHER)
untried("not-compiled", "Use a release of the package", OTHER)
untried("not-compiled", "Install it: ninja by pip", COMPILER)
untried("not-compiled", "Set CUDA_HOME to a toolkit", COMPILER)
untried("not-compiled", "Set TORCH_CUDA_ARCH_LIST", COMPILER)
untried("not-compiled", "Compile by the standard", COMPILER)
untried("not-compiled", "The compiler's first `error:` tells more", COMPILER)
untried("not-compiled", "What newer versions took away", COMPILER)


@tries("other-text", unchanged=("Without `fullgraph=True` you do not have to change anything",))
def function_of_python_in_c(advice):
    @torch.compile(backend="eager")
    def f(x):
        return (x + 1) * binascii.crc32(b"")

    assert f(torch.ones(1)) == 0


@tries("no-attribute", "a tensor that is computed from that one, or a copy, does not have it")
def attribute_that_code_sets(advice):
    x = torch.ones(2)
    x.main_grad = torch.ones(2)
    assert (x if advice else x * 2).main_grad.sum() == 2


@tries("no-attribute", "ask `isinstance(x, DTensor)` before")
def plain_tensor_as_a_distributed_one(advice):
    x = torch.ones(2)
    is_local = advice and not isinstance(x, DTensor)
    assert (x if is_local else x.to_local()).sum() == 2


untried("no-attribute", "Install a newer PyTorch, or write", OTHER)
untried("no-attribute", "If it is PyTorch's own attribute", OTHER)
