"""Kernels that call one another without end: a Python function among them makes it an error that can be caught."""

from __future__ import annotations

from dispatch_cli import universes
from dispatch_cli.answers.resolve.wording import raised_label
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import ErrorKind
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.call import TensorSpec
from dispatch_cli.model.kernel import Kernel, Redispatch
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema

SIN = OperatorName("aten::sin")
AT_AUTOGRAD = Kernel("registered at ../torch/csrc/autograd/generated/VariableType_0.cpp:1")
ANEW = Redispatch.of_data({"exclude": "AutogradCPU"})


def ended(kernel: Kernel) -> tuple[str, str, str]:
    """The type and the text of the error, and what is said of it. kernel: at CPU, below PyTorch's own at autograd."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    dispatcher.define(parse_schema(f"{SIN}(Tensor self) -> Tensor"), "")
    dispatcher.implement(SIN, "CPU", kernel)
    dispatcher.implement(SIN, "AutogradCPU", AT_AUTOGRAD)
    end = simulate(dispatcher, SIN, [TensorSpec.parse("cpu")], []).end
    assert end.error is not None
    assert end.error.kind is ErrorKind.ENDLESS
    return end.error.type, end.error.text, raised_label(end)


def test_what_is_said() -> None:
    name, text, text_after = ended(Kernel("f", python=True, redispatches=ANEW))
    assert (name, text) == ("RecursionError", "maximum recursion depth exceeded")
    assert text_after == "the kernels call one another endlessly, and Python raises RecursionError"
    name, text, text_after = ended(Kernel("f", redispatches=ANEW))
    assert (name, text) == ("", "")
    assert text_after == (
        "PyTorch raises no exception that could be caught: the kernels call one another endlessly, "
        "and the process crashes"
    )
