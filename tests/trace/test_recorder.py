"""Recordings of programs in a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trace.recorded import run_source as recorded

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
    done = recorded(tmp_path, source)
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
    done = recorded(tmp_path, source)
    [cat] = done.calls("aten::cat")
    assert len(cat["tensors"]) == 3
    [clamp] = done.calls("aten::clamp.Tensor")
    assert clamp["tensors"][2] == [0, "none"]
    empty = [(call["device"], call.get("dtype")) for call in done.calls("aten::empty.memory_format")]
    assert ("meta", 5) in empty
    [rand] = done.calls("aten::rand.generator")
    assert rand["tensors"][0][1] == "generator"
