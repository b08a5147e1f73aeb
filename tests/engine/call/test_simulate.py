"""Parts of a simulated call: the mask and its reason, stale slots, endings, and mistakes in the request."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.options import Alternative, alternatives
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Does, EndKind, ErrorKind, Handler, HandlerKind, MaskKind, Reached, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.call import CallError, Context, TensorSpec
from dispatch_cli.model.declarations import Declarations, PythonKernel
from dispatch_cli.model.kernel import Data, Kernel, Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import Options
from dispatch_cli.model.schema import parse_schema

UNIVERSE = universes.load("torch-2.15")
NAME = OperatorName("lib::op")


def dispatcher_of(*kernels: str, schema: str = "(Tensor x) -> Tensor") -> Dispatcher:
    """One operator with a kernel at each key; a minus before the key makes it a fallthrough."""
    dispatcher = Dispatcher(UNIVERSE)
    dispatcher.define(parse_schema(f"{NAME}{schema}"), "defined")
    for key in kernels:
        dispatcher.implement(NAME, key.removeprefix("-"), Kernel(f"kernel at {key}", fallthrough=key.startswith("-")))
    return dispatcher


def call(state: Dispatcher | State, tensors: str = "cpu", *contexts: str, name: OperatorName = NAME) -> Call:
    """tensors: divided by commas."""
    specs = [TensorSpec.parse(text) for text in tensors.split(",") if text]
    return simulate(state, name, specs, [Context.parse(text) for text in contexts])


def path(result: Call) -> list[str]:
    return [f"{hop.slot} {hop.does.value}" for hop in result.hops]


def test_one_common_mask() -> None:
    result = call(dispatcher_of("CPU"), "cpu")
    selection = result.selection
    assert (selection.mask.kind, selection.mask.backend) == (MaskKind.COMMON, None)
    assert selection.skipped == ("ADInplaceOrView", "BackendSelect")
    assert str(selection.result) == "DispatchKeySet(CPU, AutogradCPU)"
    assert path(result) == ["AutogradCPU redispatches", "CPU ends"]
    first, second = result.hops
    assert (first.reached, first.why, str(first.passes)) == (
        Reached.CALL,
        Why.CORE_FALLBACK,
        "DispatchKeySet(CPU)",
    )
    assert (second.reached, second.why, second.selection) == (Reached.REDISPATCH, Why.BACKEND, None)


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


def filled(
    *kernels: str, schema: str = "(int n, *, Device device) -> Tensor", device: str | None = None, **options: str
) -> list[str]:
    result = simulate(dispatcher_of(*kernels, schema=schema), NAME, options=Options(device, **options))
    return [
        f"{hop.slot} {hop.why.value} {hop.chosen_by.device.value if hop.chosen_by else ''}".strip()
        for hop in result.hops
    ]


def test_the_device_argument() -> None:
    """A kernel at BackendSelect takes its key; live calls compare the key sets."""
    kernels = ("BackendSelect", "CPU", "CUDA")
    assert filled(*kernels) == ["BackendSelect convention cpu", "CPU backend"]
    assert filled(*kernels, device="cuda:1") == ["BackendSelect convention cuda:1", "CUDA backend"]
    default = '(int n, Device device="cuda") -> Tensor'
    assert filled(*kernels, schema=default) == ["BackendSelect convention cuda", "CUDA backend"]
    assert filled(*kernels, schema=default, device="cpu")[1] == "CPU backend"
    assert filled(*kernels, schema="(Device? device=None) -> Tensor")[1] == "CPU backend"
    without = filled(*kernels, "CompositeExplicitAutograd", schema="(int n) -> Tensor")
    assert without == ["BackendSelect convention", "Undefined backend"]
    assert filled("CPU", device="cpu") == ["Undefined no-kernel"]
    for device, schema in (("cdua", "(Device d) -> Tensor"), ("cpu", "(int n) -> Tensor"), ("", "(Device d) -> ()")):
        with pytest.raises(CallError):
            filled(*kernels, schema=schema, device=device)


def test_layout_and_dtype() -> None:
    """As ``computeDispatchKey`` has it; live tests ask it for all of them."""
    schema = "(int n, ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor"

    def slot(schema: str = schema, **options: str) -> str:
        return filled("BackendSelect", schema=schema, **options)[-1].split()[0]

    assert slot() == "CPU"
    assert slot(layout="torch.sparse_coo", device="cuda:1") == "SparseCUDA"
    assert slot(layout="sparse_bsc", dtype="qint8") == "SparseCsrCPU"
    assert slot(dtype="torch.quint4x2", device="meta") == "QuantizedMeta"
    assert slot(dtype="qint8", device="vulkan") == "Vulkan"
    assert slot(layout="jagged") == "CPU"
    assert slot(layout="mkldnn") == "MkldnnCPU"
    assert slot(schema="(ScalarType dtype=12, Layout layout=1) -> Tensor") == "SparseCPU"
    assert slot(schema="(ScalarType dtype=12, Device? device=None) -> Tensor") == "QuantizedCPU"
    assert slot(schema="(ScalarType index_dtype, Device device, ScalarType? dtype) -> ()", dtype="qint8") == (
        "QuantizedCPU"
    )


def test_options_that_do_not_go_together() -> None:
    schema = "(Layout layout, Device device) -> Tensor"
    result = simulate(dispatcher_of("BackendSelect", schema=schema), NAME, options=Options("meta", "sparse_csr"))
    assert path(result) == ["BackendSelect redispatches", "SparseCsrMeta raises"]
    for device, layout, name in (("meta", "mkldnn", "mkldnn"), ("vulkan", "sparse_bsr", "SparseBsr")):
        result = simulate(dispatcher_of("BackendSelect", schema=schema), NAME, options=Options(device, layout))
        error = result.end.error
        assert path(result) == ["BackendSelect raises"]
        assert error is not None
        # what live PyTorch 2.13.0 raises
        assert (error.type, error.text) == (
            "NotImplementedError",
            f"Unsupported device type for {name} layout: {device}",
        )


def test_a_sparse_factory_of_pytorch() -> None:
    """Live, it is called with a layout: its kernels are at sparse keys only."""
    base = bases.load("torch-2.15")
    dispatcher = Dispatcher(base.universe, base=base)
    name = OperatorName("aten::_sparse_coo_tensor_with_dims_and_tensors")
    tensors = [TensorSpec.parse("cpu")] * 2
    assert path(simulate(dispatcher, name, tensors, options=Options(layout="sparse")))[1:] == [
        "BackendSelect redispatches",
        "SparseCPU ends",
    ]
    strided = simulate(dispatcher, name, tensors)
    assert strided.end.error is not None
    (chosen_by,) = [hop.chosen_by for hop in strided.hops if hop.chosen_by is not None]
    assert [*alternatives(dispatcher, name, chosen_by)] == [Alternative("layout", "sparse", "SparseCPU")]


def test_a_generator() -> None:
    """Its key counts in an unboxed call, where no tensor is; live calls of PyTorch's functions show it."""
    dispatcher = dispatcher_of("CPU", "CompositeExplicitAutograd", schema="(int n, Generator? g) -> Tensor")

    def slot(generator: str | None) -> str:
        return simulate(dispatcher, NAME, options=Options(generator=generator)).hops[0].slot

    assert [slot(text) for text in ("cpu", "cuda:0", "cpu boxed", None)] == ["CPU", "CUDA", "Undefined", "Undefined"]
    for text in ("meta", "vulkan", "cudda", "cpu unboxed"):
        with pytest.raises(CallError):
            slot(text)
    with pytest.raises(CallError):
        simulate(dispatcher_of("CPU"), NAME, options=Options(generator="cpu"))


def test_undefined_tensors_and_none() -> None:
    """An undefined tensor has keys of autograd; None has none. Live calls compare the key sets."""
    dispatcher = dispatcher_of("AutogradOther", "CPU", schema="(Tensor x, Tensor? y) -> Tensor")
    assert path(call(dispatcher, "undefined")) == ["AutogradOther redispatches", "Undefined raises"]
    assert path(call(dispatcher, "undefined,cpu", "inference_mode")) == ["CPU ends"]
    assert path(call(dispatcher, "cpu,none")) == ["AutogradCPU redispatches", "CPU ends"]
    with pytest.raises(CallError, match="the type of 'x' in lib::op is Tensor, not Tensor"):
        call(dispatcher, "none,cpu")


def test_an_undefined_tensor_of_pytorch() -> None:
    base = bases.load("torch-2.15")
    result = call(Dispatcher(base.universe, base=base), "cpu,undefined", name=OperatorName.parse("aten::add.Tensor"))
    assert result.end.error is not None
    # what live PyTorch 2.13.0 raises for torch.ops.aten.add.Tensor(x, None)
    assert result.end.error.text == (
        "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'other'"
    )


def test_prims_that_take_a_device() -> None:
    """torch/_prims/__init__.py: its kernel at BackendSelect makes the tensor, with other operators."""
    base = bases.load("torch-2.15")
    result = simulate(Dispatcher(base.universe, base=base), OperatorName("prims::empty"), options=Options("meta"))
    assert path(result) == ["BackendSelect ends"]


def test_a_stale_slot() -> None:
    """CompositeExplicitAutograd after CompositeImplicitAutograd: the math kernel stays live at AutogradCPU."""
    result = call(dispatcher_of("CompositeImplicitAutograd", "CompositeExplicitAutograd"))
    (hop,) = result.hops
    assert (hop.slot, hop.does) == ("AutogradCPU", Does.DECOMPOSES)
    assert hop.canonical is not None
    assert hop.canonical.rule.value == "fallback"
    assert result.end.kind is EndKind.DECOMPOSITION


def test_errors() -> None:
    """The error, its type, and the beginning of PyTorch's text; live calls compare the whole texts."""
    cases: list[tuple[Call, ErrorKind, str, str]] = [
        (call(dispatcher_of("CUDA")), ErrorKind.NO_KERNEL, "NotImplementedError", "Could not run 'lib::op' with argum"),
        (call(dispatcher_of(), "meta"), ErrorKind.META, "NotImplementedError", "lib::op: attempted to run this operat"),
        (
            call(dispatcher_of("CPU", schema="(int n) -> Tensor"), ""),
            ErrorKind.NO_TENSORS,
            "NotImplementedError",
            "There were no tensor arguments to this function",
        ),
        (
            call(dispatcher_of("-CompositeExplicitAutograd", "-AutogradCPU")),
            ErrorKind.FALLTHROUGH,
            "RuntimeError",
            '0 INTERNAL ASSERT FAILED at "KernelFunction.cpp", please report a bug to PyTorch. fallthrough_kernel was',
        ),
        (
            call(dispatcher_of("MkldnnCPU", "CompositeImplicitAutograd"), "cpu mkldnn"),
            ErrorKind.AMBIGUOUS,
            "RuntimeError",
            '0 INTERNAL ASSERT FAILED at "KernelFunction.cpp", please report a bug to PyTorch. lib::op has kernels re',
        ),
        (
            call(dispatcher_of("CPU"), "cpu", "include=FuncTorchDynamicLayerFrontMode"),
            ErrorKind.TRANSFORM,
            "RuntimeError",
            '!dynamicLayerStack.empty() INTERNAL ASSERT FAILED at "DynamicLayer.cpp"',
        ),
        (
            call(dispatcher_of("CPU"), "cpu", "include=PythonDispatcher"),
            ErrorKind.PYTHON,
            "RuntimeError",
            'state INTERNAL ASSERT FAILED at "PythonFallbackKernel.cpp"',
        ),
    ]
    for result, kind, error_type, text in cases:
        error = result.end.error
        assert error is not None
        assert (error.kind, error.type, error.text[: len(text)]) == (kind, error_type, text)
        assert result.hops[-1].does is Does.RAISES


def test_a_missing_kernel_of_a_stale_operator_is_another_error() -> None:
    dispatcher = dispatcher_of("CompositeImplicitAutograd", "QuantizedCPU", "-CPU")
    result = call(dispatcher, "cpu", "below_autograd", "include=TESTING_ONLY_GenericMode")
    error = result.end.error
    assert error is not None
    assert (error.kind, error.type) == (ErrorKind.STALE, "RuntimeError")
    assert error.text.startswith("expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx]) INTERNAL ASSERT FAILED")


def test_handlers() -> None:
    def handler(tensors: str, *contexts: str) -> Handler | None:
        return call(dispatcher_of("CPU", schema="(Tensor[] x) -> Tensor"), tensors, *contexts).end.handler

    mode, subclass = HandlerKind.MODE, HandlerKind.SUBCLASS
    assert handler("cpu", "mode=A", "no_grad", "mode=B") == Handler(mode, "B", 3)
    assert handler("cpu", "mode=A", "mode=FakeTensorMode") == Handler(mode, "A", 1)
    assert handler("cpu", "mode=FunctionalTensorMode", "mode=FakeTensorMode") == Handler(
        mode, "FunctionalTensorMode", 1
    )
    assert handler("cpu fake,cpu subclass=W,cpu fake") == Handler(subclass, "W", 2)
    assert handler("cpu fake") == Handler(subclass, "FakeTensor", 1)
    assert handler("cpu jagged", "below_autograd") == Handler(subclass, "NestedTensor", 1)


def test_tensors_that_a_fake_mode_refuses() -> None:
    """The random calls of a live PyTorch are judged in the same way."""

    def said(tensors: str, *contexts: str) -> tuple[str, int | None] | None:
        error = call(dispatcher_of("Meta", schema="(Tensor[] x) -> Tensor"), tensors, *contexts).end.error
        return None if error is None else (error.text.split(" first")[0], error.tensor)

    mixed, plain = "Mixing fake modes NYI", "Please convert all Tensors to FakeTensors"
    assert said("cpu fake=a,cpu fake=b") == (mixed, 2)
    assert said("cpu fake=b", "mode=FakeTensorMode=a") == (mixed, 1)
    assert said("cpu fake=a,cpu", "mode=FakeTensorMode=a") == (plain, 2)
    assert said("cpu,cpu fake=a") == (plain, 1)
    assert said("cpu,cpu fake=b", "mode=FakeTensorMode=a") == (plain, 1)
    # there is one place for a fake mode: the second one takes it
    twice = ("mode=FakeTensorMode=a", "mode=FakeTensorMode=b")
    assert said("cpu fake=b,cpu fake=b", *twice) is None
    assert said("cpu fake=a,cpu fake=a", *twice) == (mixed, 1)
    assert said("cpu,cpu fake=a,cpu subclass=W") is None
    assert said("cpu fake,cpu fake") is None
    assert said("cpu fake=a,cpu fake=b", "mode=Mine") is None
    assert said("cpu conj", "mode=FakeTensorMode") == (plain, 1)
    assert said("cpu zerotensor", "mode=FakeTensorMode") is None


def test_a_fake_mode_passes_calls_of_other_subclasses_on() -> None:
    end = call(dispatcher_of(schema="(Tensor[] x) -> Tensor"), "cpu fake=a,cpu subclass=W", "mode=FakeTensorMode").end
    assert end.handler == Handler(HandlerKind.SUBCLASS, "W", 2)
    assert end.passed == (
        Handler(HandlerKind.MODE, "FakeTensorMode", 1),
        Handler(HandlerKind.SUBCLASS, "FakeTensor", 1),
    )


def test_the_python_dispatcher() -> None:
    dispatcher = dispatcher_of("CPU", "AutogradCPU")
    kernels = (PythonKernel(NAME, "CPU", "python_cpu"),)
    state = State(dispatcher, declarations=Declarations(UNIVERSE, python_kernels=kernels))
    result = call(state, "cpu", "python_dispatcher")
    assert path(result) == [
        "PythonDispatcher redispatches",
        "AutogradCPU redispatches",
        "PythonDispatcher redispatches",
        "CPU ends",
    ]
    choices = [hop.python and (hop.python.chosen_key, hop.python.kernel) for hop in result.hops]
    assert choices == [None, ("AutogradCPU", None), None, ("CPU", "python_cpu")]
    assert path(call(state, "cpu", "python_dispatcher", "no_python_dispatcher")) == [
        "AutogradCPU redispatches",
        "CPU ends",
    ]


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


def test_a_given_key_set() -> None:
    keyset = DispatchKeySet.of(UNIVERSE, ("CPU", "AutogradCPU"))
    result = simulate(dispatcher_of("CPU"), NAME, keyset=keyset)
    assert (result.selection.mask.kind, path(result)) == (MaskKind.NONE, ["AutogradCPU redispatches", "CPU ends"])


MISTAKES: dict[str, tuple[Any, str]] = {
    "too many tensors": (("cpu,cpu",), "lib::op takes at most 1 tensor, but got 2"),
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
    "twice at a level": (("cpu batched=1 batched=1", "vmap"), "a tensor can be batched only once per level"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: str) -> None:
    asked, message = MISTAKES[mistake]
    with pytest.raises(CallError) as caught:
        call(dispatcher_of("CPU"), *asked)
    assert caught.value.message == message


def test_an_unknown_operator() -> None:
    with pytest.raises(Refused, match="operator lib::other does not exist"):
        call(dispatcher_of("CPU"), name=OperatorName("lib::other"))


def test_operators_of_a_base() -> None:
    """PyTorch's own kernels go on as their sources say; one call takes in one operator."""
    base = bases.load("torch-2.15")
    state = State(Dispatcher(base.universe, base=base), source=base)

    def slots(operator: str, tensors: str, *contexts: str) -> list[str]:
        return path(call(state, tensors, *contexts, name=OperatorName.parse(operator)))

    assert slots("aten::mm", "cuda,cuda", "autocast cuda") == [
        "AutocastCUDA calls-anew",
        "AutogradCUDA redispatches",
        "CUDA ends",
    ]
    taken = len(state.dispatcher._operators)
    assert taken == 1
    assert slots("aten::empty.memory_format", "") == ["BackendSelect redispatches", "CPU ends"]
    assert slots("aten::add.Tensor", "cpu batched,cpu", "vmap") == [
        "FuncTorchDynamicLayerFrontMode calls-anew",
        "FuncTorchBatched calls-anew",
        "FuncTorchDynamicLayerBackMode calls-anew",
        "AutogradCPU redispatches",
        "CPU ends",
    ]
    assert slots("aten::mm", "cpu batched,cpu", "vmap") == [
        "FuncTorchDynamicLayerFrontMode calls-anew",
        "FuncTorchBatched decomposes",
    ]
    # a composite kernel that torchgen put at Functionalize, too; live 2.13 ends there
    assert slots("aten::to.device", "cpu", "functionalize") == [
        "FuncTorchDynamicLayerFrontMode calls-anew",
        "Functionalize decomposes",
    ]
    assert slots("aten::matmul", "cpu,cpu") == ["AutogradCPU decomposes"]
    assert slots("aten::resize_", "cpu") == ["AutogradCPU redispatches", "ADInplaceOrView redispatches", "CPU ends"]


def test_an_alias_key_in_a_context_hints_at_the_keys_that_it_covers() -> None:
    with pytest.raises(CallError) as raised:
        call(dispatcher_of("CPU"), "cpu", "exclude=Autograd")
    assert raised.value.hint == "give keys that it covers, such as AutogradOther"


GOES_ON: dict[str, tuple[Data, list[str]]] = {
    "false": (False, ["AutogradCPU ends"]),
    "below-key": ("below-key", ["AutogradCPU redispatches", "ADInplaceOrView redispatches", "CPU ends"]),
    "below-autograd": ("below-autograd", ["AutogradCPU redispatches", "ADInplaceOrView redispatches", "CPU ends"]),
    "to": ({"to": "CPU"}, ["AutogradCPU redispatches", "CPU ends"]),
    "exclude": (
        {"exclude": ["AutogradCPU", "ADInplaceOrView"]},
        ["AutogradCPU calls-anew", "CPU ends"],
    ),
    "unwrapped, where no transform is active": ("unwrapped", ["AutogradCPU raises"]),
    "other-operators": ("other-operators", ["AutogradCPU decomposes"]),
    "raises": ("raises", ["AutogradCPU raises"]),
}
"""Declaration of the kernel at AutogradCPU, and the hops; test_live_calls.py asks a live PyTorch for all keys."""


@pytest.mark.parametrize("title", GOES_ON)
def test_what_is_declared_of_a_kernel(title: str) -> None:
    data, expected = GOES_ON[title]
    dispatcher = dispatcher_of("CPU", "ADInplaceOrView")
    dispatcher.implement(NAME, "AutogradCPU", Kernel("own", redispatches=Redispatch.of_data(data)))
    result = call(dispatcher)
    assert path(result) == expected
    assert result.hops[0].why is Why.DECLARED


VMAP = ["FuncTorchDynamicLayerFrontMode", "FuncTorchBatched", "FuncTorchDynamicLayerBackMode"]
GRAD = ["FuncTorchDynamicLayerFrontMode", "AutogradCPU", "FuncTorchDynamicLayerBackMode"]
BATCHING: dict[str, tuple[str, str, list[str]]] = {
    "one level": ("cpu batched,cpu", "vmap", [*VMAP]),
    "two levels": ("cpu batched batched,cpu", "vmap vmap", [*VMAP, *VMAP]),
    "each tensor at another level": ("cpu batched=1,cpu batched=2", "vmap vmap", [*VMAP, *VMAP]),
    "no tensor at the inner level": ("cpu batched=1,cpu", "vmap vmap", [*VMAP, *VMAP]),
    "vmap in grad": ("cpu grad-wrapped batched,cpu", "grad vmap", [*VMAP, *GRAD]),
    "grad in vmap": ("cpu batched grad-wrapped,cpu", "vmap grad", [*GRAD, *VMAP]),
}


@pytest.mark.parametrize("title", BATCHING)
def test_batching_rules_unwrap_and_call_below(title: str) -> None:
    """The slots are those of torch 2.13.0, with rules by `torch.library.register_vmap` and with raw ones."""
    tensors, contexts, expected = BATCHING[title]
    dispatcher = dispatcher_of("CPU", "Autograd", "FuncTorchBatched", schema="(Tensor x, Tensor y) -> Tensor")
    result = call(dispatcher, tensors, *contexts.split())
    assert [hop.slot for hop in result.hops] == [*expected, "AutogradCPU", "CPU"]
    assert result.end.kind is EndKind.KERNEL


@pytest.mark.parametrize(
    "tensors",
    [
        "cpu batched=1,cpu",
        "cpu batched=2,cpu",
        "cpu batched=1,cpu batched=2",
        "cpu batched=2,cpu batched=1",
        "cpu batched=1 batched=2,cpu",
    ],
)
def test_slices_at_two_levels(tensors: str) -> None:
    """Without a batching rule; in torch 2.13.0 each of these calls gets to both kernels, with plain tensors."""
    dispatcher = dispatcher_of("CPU", "Autograd", schema="(Tensor x, Tensor y) -> Tensor")
    result = call(dispatcher, tensors, "vmap", "vmap")
    assert [hop.slot for hop in result.hops if hop.slot in ("AutogradCPU", "CPU")] == ["AutogradCPU", "CPU"]
    assert result.end.kind is EndKind.KERNEL


@pytest.mark.parametrize(
    ("tensors", "end"),
    [
        ("cpu batched=1 batched=2,cpu nested batched=1", EndKind.ERROR),
        ("cpu batched=2,cpu nested batched=1", EndKind.KERNEL),
    ],
)
def test_batches_of_nested_tensors_at_two_levels(tensors: str, end: EndKind) -> None:
    """The fallback of nested tensors takes batches of all levels apart, as a live torch 2.13.0 shows: where the rule of
    FuncTorchBatched falls through, one that is left over is what the first call ends at, with its whole error.
    """
    dispatcher = dispatcher_of("CPU", "Autograd", schema="(Tensor x, Tensor y) -> Tensor")
    dispatcher.implement(NAME, "FuncTorchBatched", Kernel("skipped", fallthrough=True))
    result = call(dispatcher, tensors, "vmap", "vmap")
    assert [hop.slot for hop in result.hops].count("BatchedNestedTensor") == 1
    assert result.end.kind is end
    if result.end.error is not None:
        assert result.end.error.text.startswith("batched == nullptr INTERNAL ASSERT FAILED")


INFERENCE: dict[str, tuple[str, str, list[str]]] = {
    "grad inside": ("cpu,cpu", "inference_mode grad", ["AutogradCPU", "CPU"]),
    "grad inside, an inference tensor": ("cpu inference,cpu", "inference_mode grad", ["AutogradCPU", "CPU"]),
    "grad inside, wrapped": ("cpu grad-wrapped=1,cpu", "inference_mode grad", ["AutogradCPU", "CPU"]),
    "grad outside": ("cpu,cpu", "grad inference_mode", ["CPU"]),
    "grad outside, wrapped": ("cpu grad-wrapped=1,cpu", "grad inference_mode", ["AutogradCPU", "CPU"]),
    "vmap inside": ("cpu batched=1,cpu", "inference_mode vmap", ["CPU"]),
    "vmap outside": ("cpu batched=1,cpu", "vmap inference_mode", ["CPU"]),
}


@pytest.mark.parametrize("title", INFERENCE)
def test_inference_mode_and_transforms(title: str) -> None:
    """The operator's kernels that run in torch 2.13.0: grad leaves inference mode, vmap does not."""
    tensors, contexts, expected = INFERENCE[title]
    dispatcher = dispatcher_of("CPU", "Autograd", schema="(Tensor x, Tensor y) -> Tensor")
    result = call(dispatcher, tensors, *contexts.split())
    assert [hop.slot for hop in result.hops if hop.slot in ("AutogradCPU", "CPU")] == expected


def test_keys_of_a_tensor_that_is_batched_in_inference_mode() -> None:
    """As torch 2.13.0 prints them: a wrapper that is made in inference mode counts no writes."""
    dispatcher = dispatcher_of("CPU")
    inside = call(dispatcher, "cpu batched=1", "inference_mode", "vmap").selection.arguments[0].keyset
    outside = call(dispatcher, "cpu batched=1", "vmap", "inference_mode").selection.arguments[0].keyset
    assert str(inside) == "DispatchKeySet(CPU, AutocastCPU, FuncTorchBatched)"
    assert str(outside) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchBatched)"


def test_a_batching_rule_that_does_not_unwrap() -> None:
    """With the wrappers still on, functorch's stack runs out: torch 2.13.0 says the same."""
    dispatcher = dispatcher_of("CPU", "Autograd")
    dispatcher.implement(NAME, "FuncTorchBatched", Kernel("own", redispatches=Redispatch(RedispatchKind.BELOW_KEY)))
    result = call(dispatcher, "cpu batched", "vmap")
    assert [hop.slot for hop in result.hops] == VMAP
    assert result.end.error is not None
    assert result.end.error.text.startswith("batched == nullptr INTERNAL ASSERT FAILED")


def test_a_batching_rule_in_another_transform() -> None:
    """Reached by a redispatch under grad alone; torch 2.13.0 says that a GradInterpreter has no batch size."""
    dispatcher = dispatcher_of("CPU", "FuncTorchBatched")
    dispatcher.implement(
        NAME, "AutogradCPU", Kernel("own", redispatches=Redispatch.of_data({"to": "FuncTorchBatched"}))
    )
    result = call(dispatcher, "cpu grad-wrapped", "grad")
    assert path(result)[-1] == "FuncTorchBatched raises"


def test_a_batched_nested_tensor_that_is_taken_apart_as_a_plain_one() -> None:
    """So torch 2.13.0 says, where the keys of nested tensors are excluded, of whatever backend."""
    for key, error in (("NestedTensorXPU", "NestedTensorImpl doesn't support sizes"), ("AutogradNestedTensor", None)):
        result = call(dispatcher_of("CompositeExplicitAutograd"), "cpu nested batched", "vmap", f"exclude={key}")
        assert (result.end.error is None) is (error is None)
        assert error is None or (result.end.error is not None and error in result.end.error.text)


@pytest.mark.parametrize("schema", ["(Tensor x) -> Tensor", "(Tensor(a!) x) -> Tensor(a!)"])
def test_slices_are_wrapped_by_the_grad_around(schema: str) -> None:
    """The key set of the fourth call is torch 2.13.0's: slices have gone through ``grad``, as every view does."""
    result = call(dispatcher_of("PreDispatch", schema=schema), "cpu batched=2", "grad", "vmap", "pre_dispatch")
    kept = [hop for hop in result.hops if hop.slot == "PreDispatch"]
    assert "FuncTorchGradWrapper" in str(kept[3].keyset)


def test_a_slice_of_a_captured_tensor_is_not_written_to() -> None:
    """So torch 2.13.0 has it: such a slice is a wrapper of ``grad``, but an immutable one."""
    dispatcher = dispatcher_of("CPU", schema="(Tensor(a!) x) -> Tensor(a!)")
    captured, own = (
        call(dispatcher, "cpu batched=2", "grad", "vmap"),
        call(dispatcher, "cpu grad-wrapped=1 batched=2", "grad", "vmap"),
    )
    assert captured.end.error is not None
    assert "would mutate a captured Tensor" in captured.end.error.text
    assert own.end.error is None


def test_the_clone_of_a_functional_tensor_where_functionalization_is_excluded() -> None:
    """torch 2.13.0 ends by a signal, for a negative as for a conjugate; not for a zero tensor, which is not cloned."""
    for bit in ("neg", "conj", "zerotensor"):
        end = call(dispatcher_of("CPU"), f"cpu {bit} functional", "exclude=Functionalize").end
        assert (end.error is not None and end.error.kind is ErrorKind.CRASH) is (bit != "zerotensor")


def test_new_zeros_are_not_functional() -> None:
    """So torch 2.13.0 has it: the mode makes the zeros, and computes with them."""
    result = call(dispatcher_of("CPU", "Meta"), "cpu zerotensor functional", "mode=FakeTensorMode")
    assert result.end.kind is EndKind.HANDLER


def test_new_zeros_are_functional_where_the_thread_functionalizes() -> None:
    """So torch 2.13.0 has it: the mode makes zeros, functionalization wraps them, the mode refuses the wrapper."""
    dispatcher = dispatcher_of("CPU")
    dispatcher.implement(NAME, "Functionalize", Kernel("skipped", fallthrough=True))
    result = call(dispatcher, "cpu zerotensor", "mode=FakeTensorMode", "enable_functionalization")
    assert result.end.error is not None
    assert result.end.error.text.startswith("Please convert all Tensors to FakeTensors first")


def test_kernels_that_custom_op_makes() -> None:
    """Known by their file, but for a batching rule, whose function is the user's; test_live_calls.py asks PyTorch."""
    dispatcher = Dispatcher(UNIVERSE)
    dispatcher.define(parse_schema(f"{NAME}(Tensor(a!) x) -> ()"), "defined")
    for key in ("Autograd", "ADInplaceOrView", "CompositeExplicitAutograd", "FuncTorchBatched"):
        dispatcher.implement(NAME, key, Kernel("registered at /lib/torch/_library/custom_ops.py:736"))
    result = call(dispatcher, "cpu batched", "vmap")
    assert path(result) == [
        "FuncTorchDynamicLayerFrontMode calls-anew",
        "FuncTorchBatched calls-anew",
        "FuncTorchDynamicLayerBackMode calls-anew",
        "AutogradCPU redispatches",
        "ADInplaceOrView redispatches",
        "CPU ends",
    ]
    assert [hop.slot for hop in result.hops if hop.why is Why.CONVENTION] == ["FuncTorchBatched"]


@pytest.mark.parametrize("operator", ["lift", "lift_fresh", "lift_fresh_copy"])
def test_what_is_functional_is_not_made_functional_again(operator: str) -> None:
    """torch 2.13.0 and 2.15.0 call view_as or clone of a functional tensor, as their profilers show."""
    state = load_state([], bases=("torch-2.15",))
    result = simulate(state, OperatorName.parse(f"aten::{operator}"), [TensorSpec.parse("cpu functional")], [])
    assert path(result)[-1] == "Functionalize decomposes"
