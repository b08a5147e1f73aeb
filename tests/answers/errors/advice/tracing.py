"""Texts of torch.compile, torch.export, torch.fx and TorchScript about what they do not trace."""

import binascii

import torch

from tests.answers.errors.advice.trial import tries, untried


def asarray(x):
    return torch.asarray(x)


def as_tensor(x):
    return torch.as_tensor(x)


OTHER = "needs another build"
untried("not-exported", "ONNX has no such operator", "needs the packages of the exporter")
untried("other-text", "it calls PyTorch's own operators", "what is in Inductor's cache is not warned of")
untried("not-exported", "Pass `opset_version={expected}`", "needs the packages of the exporter")
untried("not-in-runtime", "Link a library that has this kernel", "needs ExecuTorch")
untried("not-in-runtime", "Delegate it to a backend that has it", "needs ExecuTorch")
untried("not-in-runtime", "Register an operator of your own", "needs ExecuTorch")
untried("not-in-runtime", "That is of training", "needs ExecuTorch")
untried("data-dependent", "that part runs outside of the graph, as without", "a line of a log, and no warning")
untried("other-text", "the call is right, and takes a little longer", "a line of a log, and no warning")
untried("not-exported", "Use a newer release of the converter", "needs the packages of the converters")
untried("no-api", "for which the program was written", OTHER)
untried("no-api", "2.0 took it away", OTHER)


@tries("other-text", unchanged=("Without `fullgraph=True` you do not have to change anything",))
def function_of_python_in_c(advice):
    @torch.compile(backend="eager")
    def f(x):
        return (x + 1) * binascii.crc32(b"")

    assert f(torch.ones(1)) == 0


@tries("data-dependent", "fix the argument by `concrete_args`")
def condition_on_an_argument(advice):
    def f(x, scale):
        return x * 2 if scale else x

    torch.fx.symbolic_trace(f, concrete_args={"scale": True} if advice else None)


@tries("wrong-arguments", "In TorchScript a default that is no tensor needs a type")
def default_without_a_type(advice):
    def f(n=1):
        return 1

    def typed(n: int = 1):
        return 1

    torch.jit.script(typed if advice else f)


@tries("changed-in-place", "Make that tensor a buffer of the module", "use a local variable", until="2.4")
def attribute_assigned_in_export(advice):
    class Kept(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(2))

        def forward(self, x):
            if "buffer" in advice:
                self.seen.copy_(x)
            elif advice:
                return x * 2
            else:
                self.seen = x
            return self.seen * 2

    torch.export.export(Kept(), (torch.ones(2),), strict=True)


untried("changed-in-place", "Or use a newer PyTorch", OTHER)


@tries("wrong-arguments", "TorchScript takes what has no type for a Tensor")
def argument_of_script_without_a_type(advice):
    def f(x, n):
        return x.expand([n, 2])

    def typed(x, n: int):
        return x.expand([n, 2])

    assert torch.jit.script(typed if advice else f)(torch.ones(2), 3).sum() == 6
