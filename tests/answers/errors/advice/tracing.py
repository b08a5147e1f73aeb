"""Texts of torch.compile, torch.export, torch.fx and TorchScript about what they do not trace."""

import binascii

import torch
from torch.distributed._tensor import DTensor

from tests.answers.errors.advice.trial import tries, untried


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


@tries("not-scripted", "Call an operator that does the same", "call the function in one that is traced")
def function_without_an_operator(advice):
    traced = torch.jit.trace(asarray, torch.ones(2))

    def call(x):
        return traced(x)

    scripted = torch.jit.script(as_tensor if "operator" in advice else call if advice else asarray)
    assert scripted(torch.ones(2)).sum() == 2


OTHER = "needs another build"
COMPILER = "needs a compiler of C++ or CUDA"
untried("not-exported", "Pass `opset_version={expected}`", "needs the packages of the exporter")
untried("not-in-runtime", "Link a library of kernels", "needs ExecuTorch")
untried("not-in-runtime", "Decompose the operators", "needs ExecuTorch")
untried("not-in-runtime", "Register an operator of your own", "needs ExecuTorch")
untried("no-api", "Install the PyTorch for which", OTHER)
untried("no-api", "If the traceback is of `import torch` itself", OTHER)
untried("not-compiled", "Use a release of the package", OTHER)
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
