"""Parts of a simulated call: the mask and its reason, stale slots, endings, and mistakes in the request."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.answers.resolve.wording import raised_label
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, EndKind, ErrorKind, Handler, HandlerKind, MaskKind
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.kernel import Kernel, Redispatch
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema

UNIVERSE = universes.load("torch-2.15")
NAME = OperatorName("lib::op")


def dispatcher_of(*kernels: str, schema: str = "(Tensor x) -> Tensor") -> Dispatcher:
    """One operator with a kernel at each key; a minus before the key makes it a fallthrough."""
    dispatcher = Dispatcher(UNIVERSE)
    dispatcher.define(parse_schema(f"{NAME}{schema}"), "defined")
    for key in kernels:
        dispatcher.implement(NAME, key.removeprefix("-"), Kernel(f"kernel at {key}", fallthrough=key.startswith("-")))
    return dispatcher


def call(dispatcher: Dispatcher, tensors: str = "cpu", *contexts: str, name: OperatorName = NAME) -> Call:
    """tensors: divided by commas."""
    specs = [TensorSpec.parse(text) for text in tensors.split(",") if text]
    return simulate(dispatcher, name, specs, [Context.parse(text) for text in contexts])


def path(result: Call) -> list[str]:
    return [f"{hop.slot} {hop.does.value}" for hop in result.hops]


def test_masks_that_differ_by_backend() -> None:
    """Sparse falls through on CUDA alone: the highest backend of the set decides."""
    dispatcher = dispatcher_of("SparseCPU", "CUDA", "-SparseCUDA")
    both = call(dispatcher, "cuda sparse", "below_ADInplaceOrView")
    assert (both.selection.mask.kind, both.selection.mask.backend) == (MaskKind.BACKEND, "CUDA")
    assert both.selection.skipped == ("BackendSelect", "SparseCUDA")
    assert both.end.error is not None
    assert both.end.error.kind is ErrorKind.NO_TENSORS
    cpu = call(dispatcher, "cpu sparse", "below_ADInplaceOrView")
    assert (cpu.selection.mask.backend, path(cpu)) == ("CPU", ["SparseCPU ends"])
    vulkan = call(dispatcher, "vulkan", "below_ADInplaceOrView")
    assert (vulkan.selection.mask.kind, vulkan.selection.mask.backend) == (MaskKind.FIRST_BACKEND, "CPU")


def test_whose_backend_chooses_the_mask() -> None:
    """An included key of another backend: in 2.4 the arguments alone count, later both do (asked of both live)."""
    for version, end in (("torch-2.4", EndKind.ERROR), ("torch-2.15", EndKind.KERNEL)):
        dispatcher = Dispatcher(universes.load(version))
        dispatcher.define(parse_schema(f"{NAME}(Tensor x) -> Tensor"), "defined")
        dispatcher.implement(NAME, "CPU", Kernel("none", fallthrough=True))
        dispatcher.implement(NAME, "Meta", Kernel("meta"))
        assert call(dispatcher, "cpu", "include=Meta").end.kind is end


@pytest.mark.parametrize(("device", "schema"), [("cdua", "(Device d) -> Tensor"), ("cpu", "(int n) -> Tensor")])
def test_a_device_that_cannot_be(device: str, schema: str) -> None:
    with pytest.raises(CallError):
        simulate(dispatcher_of("CPU", schema=schema), NAME, options=Options(device))


def test_a_mode_for_pre_dispatch() -> None:
    """Python gives the call to the mode; a handler inside a mode, which excludes Python, gets the kernel."""
    dispatcher = dispatcher_of("CPU", "AutogradCPU")
    mode = "pre_dispatch_mode=ProxyTorchDispatchMode"
    result = call(dispatcher, "cpu", "python_dispatcher", mode)
    assert path(result) == ["PythonDispatcher redispatches", "PreDispatch hands-over"]
    assert result.end.handler == Handler(HandlerKind.MODE, "ProxyTorchDispatchMode", 2)
    below = call(dispatcher, "cpu", "python_dispatcher", mode, "exclude=Python")
    assert path(below)[1:3] == ["PreDispatch redispatches", "PythonDispatcher redispatches"]
    without = call(dispatcher, "cpu", mode)
    assert path(without) == ["PreDispatch redispatches", "AutogradCPU redispatches", "CPU ends"]


MISTAKES: dict[str, tuple[Any, str]] = {
    "too many tensors": (("cpu,cpu",), "lib::op takes at most 1 tensor, but got 2"),
    "no tensor": (("none",), "the type of 'x' in lib::op is Tensor, not Tensor?"),
    "no such key": (("cpu", "include=AutogradCPUU"), "AutogradCPUU is not a key of the universe torch-2.15"),
    "alias key": (
        ("cpu", "exclude=Autograd"),
        "Autograd is an alias key, which cannot be in a key set of the universe torch-2.15",
    ),
    "no autocast": (
        ("cpu", "autocast meta"),
        "the universe torch-2.15 has no autocast for 'meta' (it has autocast for cpu, cuda, ipu, xpu, maia, xla, mps, "
        "hpu, mtia, privateuseone)",
    ),
    "functionalization twice": (
        ("cpu", "enable_functionalization", "enable_functionalization"),
        "functionalization is enabled already, and cannot be enabled twice",
    ),
    "no such level": (
        ("cpu batched=1", "grad"),
        "the contexts have no transform at level 1 that makes a tensor batched",
    ),
    "no such device": (
        ("cudda",),
        "the universe torch-2.15 has no device 'cudda' (it has cpu, cuda, ipu, xpu, hip, ve, fpga, maia, xla, lazy, "
        "vulkan, mps, meta, hpu, mtia, privateuseone)",
    ),
    "no mkldnn tensors": (("cuda mkldnn",), "the universe torch-2.15 has no mkldnn tensors on 'cuda'"),
    "no sparse tensors": (("maia sparse",), "the universe torch-2.15 has no sparse tensors on 'maia'"),
    "two layouts": (
        ("cpu nested quantized",),
        "a tensor can be only one of sparse, mkldnn, jagged, quantized and nested",
    ),
    "twice at a level": (("cpu batched=1 batched=1", "vmap"), "a tensor can be batched only once per level"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: str) -> None:
    asked, message = MISTAKES[mistake]
    with pytest.raises(CallError) as caught:
        call(dispatcher_of("CPU"), *asked)
    assert caught.value.message == message


def test_the_clone_of_a_functional_tensor_where_functionalization_is_excluded() -> None:
    """torch 2.13.0 ends by a signal, for a negative as for a conjugate; not for a zero tensor, which is not cloned."""
    for bit in ("neg", "conj", "zerotensor"):
        end = call(dispatcher_of("CPU"), f"cpu {bit} functional", "exclude=Functionalize").end
        assert (end.error is not None and end.error.kind is ErrorKind.CRASH) is (bit != "zerotensor")


# Kernels that call one another without end: a Python function among them makes it an error that can be caught.


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


# Errors of PyTorch's own batching rules; own_kernels.py has the calls that come to a kernel.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aten::sin", "Either your tensor may have escaped from inside a function being vmapped"),
        (
            "aten::split.Tensor",
            'maybe_level.has_value() INTERNAL ASSERT FAILED at "LegacyBatchingRegistrations.cpp"',
        ),
        ("aten::nonzero", "vmap: We do not support batching operators that can output dynamic shape. "),
    ],
)
def test_errors_of_a_batched_tensor(name: str, text: str) -> None:
    """No transform is active."""
    base = bases.load("torch-2.15")
    dispatcher = Dispatcher(base.universe, base=base)
    result = call(dispatcher, "cpu batched", name=OperatorName.parse(name))
    assert result.end.error is not None
    assert result.end.error.text.startswith(text)
