"""Recordings of programs in a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trace.recorded import Recorded, run

pytestmark = pytest.mark.live


def recorded(tmp_path: Path, source: str, fresh: bool = False) -> Recorded:
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    return run(program, fresh=fresh)


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


def test_every_call_ends(tmp_path: Path) -> None:
    source = """
import torch
model = torch.nn.Linear(3, 2)
model(torch.ones(4, 3)).sum().backward()
"""
    done = recorded(tmp_path, source, fresh=True)
    depth = 0
    for line in done.lines[1:]:
        if line[0] == "c":
            assert line[3] == depth
            depth += 1
        elif line[0] == "e":
            depth -= 1
    assert depth == 0
    assert done.tagged("end")[0][0]["calls"] == len(done.calls()) > 10


def test_backward_says_which_forward_call_it_belongs_to(tmp_path: Path) -> None:
    source = """
import torch
a = torch.ones(2, requires_grad=True)
b = a.exp()
c = b.sin()
c.sum().backward()
"""
    done = recorded(tmp_path, source)
    forward = done.calls("aten::sin")[0]
    backward = done.calls("aten::cos")[0]
    assert (forward["forward"], backward["forward"]) == (-1, 0)
    assert [line[3:] for line in done.tagged("e") if line[3:] == [[backward["sequence"]]]] != []
    assert backward["line"] == 6


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


def test_without_pytorch(tmp_path: Path) -> None:
    done = recorded(tmp_path, "import sys\nprint('torch' in sys.modules)\n", fresh=True)
    assert (done.code, done.out, done.err) == (0, "False\n", "")
    assert done.tagged("x")[0][0]["reason"] == "torch"
    assert done.head["torch"] is None
