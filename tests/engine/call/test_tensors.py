"""Key sets of tensors: against those of a live PyTorch on every device, and what a universe does not have."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.model.call import CallError, TensorSpec
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python

KINDS = ("", "sparse", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "mkldnn", "quantized")
SCRIPT = """
import json, sys, warnings
import torch
warnings.simplefilter("ignore")
class Unused(torch.Tensor):
    @staticmethod
    def __torch_dispatch__(*arguments): pass
kinds = {"": {}, "mkldnn": {"layout": torch._mkldnn}, "quantized": {"dtype": torch.qint8},
         "sparse": {"layout": torch.sparse_coo}, "sparse_csr": {"layout": torch.sparse_csr},
         "sparse_csc": {"layout": torch.sparse_csc}, "sparse_bsr": {"layout": torch.sparse_bsr},
         "sparse_bsc": {"layout": torch.sparse_bsc}}
found = {}
for asked in json.loads(sys.argv[1]):
    device, kind, inference = asked
    try:
        with torch.inference_mode(inference):
            tensor = torch.Tensor._make_wrapper_subclass(Unused, (2, 2), device=device, **kinds[kind])
        found[" ".join(map(str, asked))] = str(torch._C._dispatch_keys(tensor))
    except RuntimeError:
        found[" ".join(map(str, asked))] = None
print(json.dumps(found))
"""


def keyset_of(universe: Universe, device: str, kind: str, inference: bool) -> str | None:
    words = f"{device} {kind} subclass=Unused {'inference' if inference else ''}"
    try:
        return str(TensorMaker(universe).make(TensorSpec.parse(words)).keyset)
    except CallError:
        return None


@pytest.mark.live
def test_every_device_and_kind(tmp_path: Path) -> None:
    """The keys of tensors are the same without hardware; such tensors have the keys of Python besides."""
    python = torch_python()
    universe = universes.from_data(live_universe(python))
    asked = list(product(universe.devices, KINDS, (False, True)))
    script = tmp_path / "tensors.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = in_pytorch.run([python, str(script), json.dumps(asked)])
    live = json.loads(done.stdout)
    ours = {" ".join(map(str, question)): keyset_of(universe, *question) for question in asked}
    assert ours == live
    assert sum(keyset is not None for keyset in live.values()) > 150


INFERENCE_SCRIPT = """
import json, warnings
import torch
warnings.simplefilter("ignore")
with torch.inference_mode(), torch.autocast("cpu"):
    ones = torch.ones(2, 2)
    made = {"cpu": torch.mm(ones, ones), "cpu sparse": ones.to_sparse(), "cpu sparse_csr": ones.to_sparse_csr(),
            "cpu mkldnn": ones.to_mkldnn(), "cpu nested": torch.nested.nested_tensor([ones]), "meta": ones.to("meta"),
            "cpu conj": ones.cfloat().conj(), "cpu zerotensor": torch._efficientzerotensor((2,)),
            "cpu quantized": torch.quantize_per_tensor(ones, 1.0, 0, torch.quint8)}
print(json.dumps({text: str(torch._C._dispatch_keys(tensor)) for text, tensor in made.items()}))
"""


@pytest.mark.live
def test_tensors_made_in_inference_mode_under_autocast(tmp_path: Path) -> None:
    """They have the autocast key, as the word ``inference`` says."""
    python = torch_python()
    maker = TensorMaker(universes.from_data(live_universe(python)))
    script = tmp_path / "inference.py"
    script.write_text(INFERENCE_SCRIPT, encoding="utf-8")
    done = in_pytorch.run([python, str(script)])
    live = json.loads(done.stdout)
    assert {text: str(maker.make(TensorSpec.parse(f"{text} inference")).keyset) for text in live} == live


RECORDED = {
    # what live PyTorch 2.13.0 prints for such tensors
    "undefined": "ADInplaceOrView, AutogradOther",
    "cpu": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU",
    "cpu inference": "CPU, AutocastCPU",
    "cpu mkldnn": "MkldnnCPU, ADInplaceOrView, AutogradOther",
    "cpu mkldnn inference": "MkldnnCPU",
    "cpu nested": "NestedTensorCPU, ADInplaceOrView, AutogradCPU, AutogradNestedTensor, AutocastCPU",
    "cpu nested inference": "NestedTensorCPU, AutocastCPU",
    "cpu jagged": "CPU, NestedTensorCPU, Python, ADInplaceOrView, AutogradCPU, AutogradNestedTensor, AutocastCPU, "
    "PythonTLSSnapshot",
    "hip": "HIP, ADInplaceOrView, AutogradOther",
    "cuda fake": "CUDA, Python, ADInplaceOrView, AutogradCUDA, AutocastCUDA, PythonTLSSnapshot",
    "hip fake": "HIP, Python, ADInplaceOrView, AutogradHIP, PythonTLSSnapshot",
    "vulkan fake": "Python, ADInplaceOrView, PythonTLSSnapshot",
    "cpu sparse fake": "SparseCPU, Python, ADInplaceOrView, AutogradCPU, AutocastCPU, PythonTLSSnapshot",
    "cpu inference fake": "CPU, Python, AutocastCPU, PythonTLSSnapshot",
    "cpu conj fake": "CPU, Python, Conjugate, ADInplaceOrView, AutogradCPU, AutocastCPU, PythonTLSSnapshot",
    "cpu conj functional": "CPU, Functionalize, Conjugate, ADInplaceOrView, AutogradCPU, AutocastCPU",
    "cpu inference functional": "CPU, Functionalize, AutocastCPU",
    "hip functional": "HIP, Functionalize, ADInplaceOrView, AutogradOther",
    "cpu batched": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchBatched",
    "meta batched": "ADInplaceOrView, AutogradOther, FuncTorchBatched",
    "cpu quantized batched": "ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchBatched",
    "cpu nested batched": "ADInplaceOrView, AutogradCPU, AutocastCPU, BatchedNestedTensor",
    "cpu zerotensor batched": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchBatched",
    "hip batched": "ADInplaceOrView, AutogradOther, FuncTorchBatched",
    "cpu conj grad-wrapped": "CPU, Conjugate, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchGradWrapper",
    "cpu batched grad-wrapped": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchGradWrapper",
}


@pytest.mark.parametrize("text", RECORDED)
def test_key_sets(text: str) -> None:
    maker = TensorMaker(universes.load("torch-2.15"))
    spec = TensorSpec.parse(text)
    value = maker.make(spec)
    for wrapper in spec.wrappers:
        value = maker.wrap(value, wrapper)
    assert str(value.keyset) == f"DispatchKeySet({RECORDED[text]})"


WRONG = {
    "cudda": (
        "the universe torch-2.15 has no device 'cudda' (it has cpu, cuda, ipu, xpu, hip, ve, fpga, maia, xla, lazy, "
        "vulkan, mps, meta, hpu, mtia, privateuseone)",
        "did you mean cuda?",
    ),
    "cuda mkldnn": ("the universe torch-2.15 has no mkldnn tensors on 'cuda'", None),
    "maia sparse": ("the universe torch-2.15 has no sparse tensors on 'maia'", None),
    "cpu nested quantized": ("a tensor can be only one of sparse, mkldnn, jagged, quantized and nested", None),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_a_universe_does_not_have(text: str) -> None:
    with pytest.raises(CallError) as caught:
        TensorMaker(universes.load("torch-2.15")).make(TensorSpec.parse(text))
    assert (caught.value.message, caught.value.hint) == WRONG[text]
