"""Suggestions are close to what was written, or are not made."""

from __future__ import annotations

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.answers.shared.selection import similar_names
from dispatch_cli.model.text.suggest import similar

UNIVERSE = universes.load("torch-2.15")
KEYS = tuple(UNIVERSE.ids)


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("AutogradCDUA", "AutogradCUDA"),
        ("CompositeImplictAutograd", "CompositeImplicitAutograd"),
        ("Autogard", "Autograd"),
        ("autogardcpu", "AutogradCPU"),
        ("SparseCrsCPU", "SparseCsrCPU"),
        ("GPU", "CUDA"),
        ("AutogradGPU", "AutogradCUDA"),
        ("PrivteUse1", "PrivateUse1"),
        ("PrivateUse", "PrivateUse1"),
        ("AutogradPrivateUse", "AutogradPrivateUse1"),
        ("BackendSelct", "BackendSelect"),
        ("Math", "CompositeImplicitAutograd"),
        ("DefaultBackend", "CompositeExplicitAutograd"),
    ],
)
def test_a_misspelt_key(word: str, key: str) -> None:
    assert similar(word, KEYS) == [key]


@pytest.mark.parametrize(
    "word", ["NPU", "npu", "AutogradNPU", "autogradnpu", "SparseNPU", "AutogradFoo", "PrivateUse7"]
)
def test_another_backend_is_no_misspelling(word: str) -> None:
    assert similar(word, KEYS) == []


@pytest.mark.parametrize(
    ("device", "meant"),
    [("gpu", ["cuda"]), ("npu", []), ("cdua", ["cuda"]), ("cud", ["cuda"]), ("privateuse1", ["privateuseone"])],
)
def test_a_device(device: str, meant: list[str]) -> None:
    assert similar(device, UNIVERSE.devices) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("aten::ad.Tensor", ["aten::add.Tensor"]),
        ("aten.ad.Tensor", ["aten::add.Tensor"]),
        ("aten::add.Tenser", ["aten::add.Tensor", "aten::add_.Tensor"]),
        ("aten::add.zzz", ["aten::add.Scalar", "aten::add.Scalar_out", "aten::add.Tensor"]),
        ("torch.ops.aten.softmx.int", ["aten::softmax.int"]),
        ("aten::zzzz", []),
        ("torch.add", ["aten::add.Tensor", "aten::add.Scalar", "aten::add.out"]),
        ("torch.Tensor.add_", ["aten::add_.Tensor", "aten::add_.Scalar"]),
        ("torch.nn.functional.relu6", ["aten::relu6", "quantized::relu6"]),
    ],
)
def test_an_operator_by_name_and_overload(written: str, meant: list[str]) -> None:
    assert similar_names(bases.load("torch-2.15").names, written) == meant
