"""Tensors and contexts as they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dispatch_cli.model.calls.call import (
    MAX_TEXT,
    Absent,
    Bit,
    CallError,
    Context,
    ContextKind,
    Layout,
    TensorSpec,
    Wrapper,
    WrapperKind,
    device_type,
)
from dispatch_cli.model.calls.options import dtype_named, generator_named, layout_named

TENSORS = {
    "cpu": TensorSpec("cpu"),
    "cuda:1 sparse requires_grad": TensorSpec("cuda", 1, Layout.SPARSE, requires_grad=True),
    "sparse_csr cpu": TensorSpec("cpu", layout=Layout.SPARSE_CSR),
    "conj neg cpu": TensorSpec("cpu", bits=(Bit.CONJ, Bit.NEG)),
    "inference quantized": TensorSpec(quantized=True, inference=True),
    "cpu nested": TensorSpec("cpu", nested=True),
    "cpu sparse_coo": TensorSpec("cpu", layout=Layout.SPARSE),
    "undefined": TensorSpec(absent=Absent.UNDEFINED),
    "none": TensorSpec(absent=Absent.NONE),
    "jagged cpu": TensorSpec("cpu", layout=Layout.JAGGED),
    "fake": TensorSpec(fake=""),
    "xpu fake=mine": TensorSpec("xpu", fake="mine"),
    "subclass=My.Tensor meta": TensorSpec("meta", subclass="My.Tensor"),
    "cpu functional batched=1 grad-wrapped": TensorSpec(
        "cpu",
        wrappers=(Wrapper(WrapperKind.FUNCTIONAL), Wrapper(WrapperKind.BATCHED, 1), Wrapper(WrapperKind.GRAD)),
    ),
    "cpu batched batched": TensorSpec("cpu", wrappers=(Wrapper(WrapperKind.BATCHED),) * 2),
}
CONTEXTS = {
    "no_grad": Context(ContextKind.NO_GRAD),
    "Below_adinplaceorview": Context(ContextKind.BELOW_AD_INPLACE_OR_VIEW),
    "autocast cuda": Context(ContextKind.AUTOCAST, device="cuda"),
    "autocast cuda off": Context(ContextKind.AUTOCAST, device="cuda", enabled=False),
    "enable_grad": Context(ContextKind.ENABLE_GRAD),
    "inference_mode(False)": Context(ContextKind.INFERENCE_MODE, enabled=False),
    "inference_mode(True)": Context(ContextKind.INFERENCE_MODE),
    "autocast=cuda": Context(ContextKind.AUTOCAST, device="cuda"),
    "mode=FakeTensorMode": Context(ContextKind.MODE, name="FakeTensorMode"),
    "torch.no_grad()": Context(ContextKind.NO_GRAD),
    "torch.enable_grad()": Context(ContextKind.ENABLE_GRAD),
    "mode=FakeTensorMode=b": Context(ContextKind.MODE, name="FakeTensorMode", instance="b"),
    "include=CPU,AutogradCPU": Context(ContextKind.INCLUDE, keys=("CPU", "AutogradCPU")),
    "exclude CPU AutogradCPU": Context(ContextKind.EXCLUDE, keys=("CPU", "AutogradCPU")),
}
SPACES = "a device and what else the tensor is, in words with spaces between: `cuda requires_grad`"
WRONG_TENSORS = {
    "": ("a tensor is empty", "write one such as `cpu` or `cuda sparse`"),
    "cpu spars": ("'spars' does not describe a tensor", "did you mean sparse?"),
    "cpu undefined": ("'undefined' cannot be combined with other words", "write only `undefined`"),
    "none requires_grad": ("'none' cannot be combined with other words", "write only `none`"),
    "cuda float16": (
        "'float16' does not describe a tensor",
        "a dtype does not change the keys of a tensor, except those of quantized tensors: write `quantized`",
    ),
    "cpu cuda": ("'cpu' and 'cuda' cannot both be the device: a tensor has one", SPACES),
    "cuda,requires_grad": ("'cuda,requires_grad' is not a device, and does not describe a tensor", SPACES),
    "cpu sparse mkldnn": ("a tensor has only one layout, and 'mkldnn' is a second one", None),
    "cpu fake=a fake=b": ("a tensor has only one fake, and 'fake=b' is a second one", None),
    "cpu subclass": ("'subclass' needs a name", "write subclass=NAME"),
    "cpu batched=0": ("'0' is not a transform level", "levels count from 1, which is the outermost"),
    "cp!u": ("'cp!u' is not a device, and does not describe a tensor", SPACES),
    "x" * (MAX_TEXT + 1): (f"a tensor cannot have more than {MAX_TEXT} characters", None),
    "batched " * 65: ("a tensor cannot have more than 64 wrappers", None),
}
WRONG_CONTEXTS = {
    "autocst cpu": ("'autocst' is not a context", "did you mean autocast?"),
    "autocast": ("'autocast' needs a device, such as `autocast cpu` or `autocast cpu off`", None),
    "vmap 2": ("'vmap' takes no argument, but is followed by '2'", None),
    "include=": ("'include' needs a dispatch key", "write include=KEY"),
    "  ": ("a context is empty", "write one such as `no_grad` or `autocast cpu`"),
}


@pytest.mark.parametrize("text", TENSORS)
def test_tensors(text: str) -> None:
    spec = TensorSpec.parse(text)
    assert spec == TENSORS[text]
    if str(spec):
        assert TensorSpec.parse(str(spec)) == spec


@pytest.mark.parametrize("text", CONTEXTS)
def test_contexts(text: str) -> None:
    context = Context.parse(text)
    assert context == CONTEXTS[text]
    assert Context.parse(str(context)) == context


@pytest.mark.parametrize("text", WRONG_TENSORS)
def test_wrong_tensors(text: str) -> None:
    with pytest.raises(CallError) as caught:
        TensorSpec.parse(text)
    assert (caught.value.message, caught.value.hint) == WRONG_TENSORS[text]


@pytest.mark.parametrize("text", WRONG_CONTEXTS)
def test_wrong_contexts(text: str) -> None:
    with pytest.raises(CallError) as caught:
        Context.parse(text)
    assert (caught.value.message, caught.value.hint) == WRONG_CONTEXTS[text]


def test_options() -> None:
    assert [layout_named(text) for text in ("sparse", "torch.sparse_coo", "torch._mkldnn")] == [
        Layout.SPARSE,
        Layout.SPARSE,
        Layout.MKLDNN,
    ]
    assert [dtype_named(text) for text in ("torch.qint8", "long", "float8_e5m2")] == ["qint8", "int64", "float8_e5m2"]
    assert [generator_named(text) for text in ("cpu", "cuda:1 boxed")] == [("cpu", False), ("cuda:1", True)]


WRONG_OPTIONS = {
    ("layout", "spars"): "did you mean sparse?",
    ("layout", ""): None,
    ("dtype", "qin8"): "did you mean qint8?",
    ("dtype", "x" * 5000): "such as float32 or qint8",
    ("generator", ""): "such as `cuda` or `cuda:0`",
    ("generator", "cpu unboxed"): "such as `cpu`, or `cpu boxed` for a call through torch.ops",
    ("device", "a b"): "such as `cuda` or `cuda:0`",
}


READERS: dict[str, Callable[[str], object]] = {
    "layout": layout_named,
    "dtype": dtype_named,
    "generator": generator_named,
    "device": device_type,
}


@pytest.mark.parametrize(("option", "text"), WRONG_OPTIONS)
def test_wrong_options(option: str, text: str) -> None:
    with pytest.raises(CallError) as caught:
        READERS[option](text)
    assert caught.value.hint == WRONG_OPTIONS[option, text]
