"""Recordings of programs in a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trace.recorded import Recorded, run_source

pytestmark = pytest.mark.live


def test_a_call(tmp_path: Path) -> None:
    """The operator, the key sets that PyTorch itself tells, and the line."""
    source = """
import torch
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, dtype=torch.complex64).conj()
def inside():
    torch.mul(a, b)
inside()
print([torch._C._dispatch_keys(one).raw_repr() for one in (a, b)])
keys = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
print([one.raw_repr() for one in keys])
"""
    done = run_source(tmp_path, source)
    if "raw_repr" in done.err:
        pytest.skip("this PyTorch does not tell the bits of a key set")
    tensors, keys = (json.loads(line) for line in done.out.splitlines())
    call = done.calls("aten::mul.Tensor")[0]
    assert call["tensors"] == [[tensor] for tensor in tensors]
    assert call["keys"] == keys
    assert (call["file"], call["line"], call["function"]) == (str(tmp_path / "program.py"), 6, "inside")
    assert (done.code, done.err, call["thread"], call["depth"]) == (0, "", "MainThread", 0)
    assert done.head["torch"].count(".") == 2


def test_lists_of_tensors_and_missing_tensors(tmp_path: Path) -> None:
    source = """
import torch
a = torch.ones(2)
torch.cat([a, a, a])
torch.clamp(a, a, None)
torch.empty(1, device="meta", dtype=torch.float16)
a[[0]]
torch.rand(1, generator=torch.Generator())
"""
    done = run_source(tmp_path, source)
    [cat] = done.calls("aten::cat")
    assert len(cat["tensors"]) == 3
    [clamp] = done.calls("aten::clamp.Tensor")
    assert clamp["tensors"][2] == [0, "none"]
    empty = [(call["device"], call.get("dtype")) for call in done.calls("aten::empty.memory_format")]
    assert ("meta", 5) in empty
    [rand] = done.calls("aten::rand.generator")
    assert rand["tensors"][0][1] == "generator"


# Values of tensors, threads and operators in a recording, beside those of PyTorch itself in the same program.


def recorded(tmp_path: Path, source: str) -> tuple[Recorded, list[Any]]:
    """The recording, and the lines of JSON that the program printed."""
    done = run_source(tmp_path, source)
    assert done.code == 0, done.err
    assert done.tagged("x") == []
    return done, [json.loads(line) for line in done.out.splitlines()]


def outside_in(note: list[Any]) -> list[tuple[str, int]]:
    """The wrappers of a tensor with their levels."""
    return [(note[1], note[2]), *outside_in(note[3])] if len(note) == 4 else []


def test_wrappers_and_layers_of_functorch(tmp_path: Path) -> None:
    source = """
import json, torch
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
F = torch._C._functorch
def wrappers(x):
    found = []
    while F.is_functorch_wrapped_tensor(x):
        found.append(("batched" if F.is_batchedtensor(x) else "grad-wrapped", F.maybe_get_level(x)))
        x = F.get_unwrapped(x)
    return found
def inside(x):
    layers = [(one.key().name.lower(), one.level()) for one in retrieve_all_functorch_interpreters()]
    print(json.dumps([wrappers(x), layers]))
    return torch.atan(x).sum()
torch.func.vmap(torch.func.grad(inside))(torch.ones(3, 2))
torch.func.grad(torch.func.vmap(inside), argnums=0)
torch.func.vmap(torch.func.vmap(inside))(torch.ones(3, 2, 2))
torch.func.jvp(inside, (torch.ones(2),), (torch.ones(2),))
torch.func.functionalize(inside)(torch.ones(2))
"""
    done, printed = recorded(tmp_path, source)
    outer = [call for call in done.calls("aten::atan") if call["depth"] == 0]
    assert len(outer) == len(printed) == 4
    for call, (wrappers, layers) in zip(outer, printed, strict=True):
        functional = [kind for kind, _ in layers] == ["functionalize"]  # Python does not tell of these
        assert [list(tensor) for tensor in outside_in(call["tensors"][0])] == (
            [["functional", 1]] if functional else wrappers
        )
        assert [layer[:2] for layer in call["layers"]] == layers
        assert all(layer[2] is None for layer in call["layers"])


def test_a_layer_keeps_the_key_sets_of_the_outer_call(tmp_path: Path) -> None:
    source = "import torch\ntorch.func.vmap(torch.atan)(torch.ones(2, 2))"
    outer, inner = recorded(tmp_path, source)[0].calls("aten::atan")[:2]
    assert (outer["depth"], inner["depth"]) == (0, 1)
    assert [kind for kind, _, _ in inner["layers"]] == ["vmap"]
    assert inner["layers"][0][2] == outer["keys"]


def test_gradients_devices_classes_and_modes(tmp_path: Path) -> None:
    source = """
import json, torch
class Mine(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.zeros(2)
leaf = torch.ones(2, requires_grad=True)
base = torch.zeros(2)
view = base[:1]
base.mul_(leaf)
mine = torch.ones(2).as_subclass(Mine)
one = torch.ones(2, device="meta")
tensors = [leaf, leaf * 2, view, torch.ones(2), mine, one, torch.nn.Parameter(torch.ones(1)), leaf.detach()]
for tensor in tensors:
    torch.atan(tensor)
print(json.dumps([[t.requires_grad, str(t.device), "Mine" if t is mine else None] for t in tensors]))
with torch.inference_mode():
    torch.sin(torch.ones(1))
with torch.no_grad():
    torch.sin(torch.ones(1))
from torch.utils._python_dispatch import TorchDispatchMode
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))
class Other(Mode): pass
with Mode(), Other():
    torch.cos(base)
"""
    done, [printed] = recorded(tmp_path, source)
    calls = [call for call in done.calls("aten::atan") if call["depth"] == 0]
    assert [[*call["requires_grad"], *call["devices"], *call["subclasses"]] for call in calls] == printed
    modes = [(call["inference"], call["grad_mode"]) for call in done.calls("aten::sin")]
    assert modes == [(True, False), (False, False)]
    assert [call["modes"] for call in done.calls("aten::cos")] == [["Mode", "Other"], ["Mode"], []]


def test_operators_that_come_and_go(tmp_path: Path) -> None:
    """Their schemas are at the same addresses."""
    source = """
import torch
for number in range(20):
    library = torch.library.Library("mine", "DEF")
    library.define(f"operator{number}(Tensor x, {'Tensor y' if number % 2 else 'int y'}) -> Tensor")
    library.impl(f"operator{number}", lambda x, y: x.clone(), "CPU")
    getattr(torch.ops.mine, f"operator{number}")(torch.ones(1), torch.ones(1) if number % 2 else 1)
    library._destroy()
    del library
"""
    done, _ = recorded(tmp_path, source)
    calls = [call for call in done.calls() if call["operator"].startswith("mine::")]
    assert [call["operator"] for call in calls] == [f"mine::operator{number}" for number in range(20)]
    assert [len(call["tensors"]) for call in calls] == [1, 2] * 10


def test_a_compiled_function(tmp_path: Path) -> None:
    """torch.compile does not look into the recorder, though it traces the frames of all calls."""
    source = """
import torch
@torch.compile(backend="eager")
def f(x):
    return torch.atan(x) + 1
assert torch.equal(f(torch.ones(2)), torch.atan(torch.ones(2)) + 1)
f(torch.ones(3))
print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
print(len(torch._dynamo.utils.counters["graph_break"]))
"""
    done, printed = recorded(tmp_path, source)
    assert printed == [2, 0]
    assert len(done.calls("aten::atan")) >= 3
