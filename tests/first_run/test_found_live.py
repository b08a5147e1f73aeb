"""The mistakes of examples/found.md, in programs of a few lines: what is found in them, and what PyTorch does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call

pytestmark = pytest.mark.live

DEFINE = 'import torch\nlib = torch.library.Library("mine", "FRAGMENT")\n'
ATEN = 'import torch\nlib = torch.library.Library("aten", "IMPL")\n'
BACKEND = ATEN + 'torch.utils.rename_privateuse1_backend("tiny")\n'
TINY = """
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
_setup_privateuseone_for_python_backend("tiny")
def tiny():
    return torch._C._acc.create_empty_tensor((3,), torch.int64)
def in_place():
    x = tiny()
    x <<= tiny()
"""
FAKE = """
from torch._subclasses.fake_tensor import FakeTensorMode
def fake(operator):
    with FakeTensorMode():
        return operator(torch.ones(2), torch.ones(2))
"""
OUTCOMES = """
import json
def outcome(expression):
    try:
        eval(expression)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "works"
print(json.dumps([outcome(expression) for expression in EXPRESSIONS]))
"""


class Mistake(NamedTuple):
    """A program that registers something wrong, and calls."""

    registers: str
    finding: str
    fails: str
    error: str
    works: str
    helpers: str = ""


MISTAKES = {
    "in-place form": Mistake(
        BACKEND + 'lib.impl("sgn", lambda x: x, "PrivateUse1")\n',
        "[sibling-disagreement]: aten::sgn has a kernel at PrivateUse1, but its out= form aten::sgn.out has none",
        "tiny().sgn_()",
        "NotImplementedError: Could not run 'aten::sgn.out'",
        "tiny().sgn()",
        TINY,
    ),
    "in-place form without a default": Mistake(
        BACKEND + 'lib.impl("__lshift__.Tensor", lambda x, y: x, "PrivateUse1")\n',
        "[sibling-disagreement]: aten::__lshift__.Tensor has a kernel at PrivateUse1, but its in-place form",
        "in_place()",
        "NotImplementedError: Could not run 'aten::__ilshift__.Tensor'",
        "tiny() << tiny()",
        TINY,
    ),
    "inference mode": Mistake(
        DEFINE + 'lib.define("f(Tensor x) -> Tensor")\nlib.impl("f", lambda x: x + 1, "Autograd")\n',
        "[autograd-only]: mine::f",
        "torch.inference_mode()(torch.ops.mine.f)(torch.ones(2))",
        "NotImplementedError: Could not run 'mine::f'",
        "torch.ops.mine.f(torch.ones(2))",
    ),
    "factory": Mistake(
        DEFINE + 'lib.define("f(int size) -> Tensor")\nlib.impl("f", lambda size: torch.ones(size), "CPU")\n'
        'lib.define("g(int size) -> Tensor")\n'
        'lib.impl("g", lambda size: torch.ones(size), "CompositeExplicitAutograd")\n',
        "[unreachable-factory]: mine::f takes no tensors",
        "torch.ops.mine.f(2)",
        "NotImplementedError: There were no tensor arguments to this function",
        "torch.ops.mine.g(2)",
    ),
    "fake of another operator": Mistake(
        DEFINE + 'for name in ("f", "f_sm90"):\n    lib.define(f"{name}(Tensor x, Tensor! out) -> Tensor")\n'
        '    lib.impl(name, lambda x, out: x + 1, "CPU")\n'
        '@torch.library.register_fake("mine::f")\ndef of_sm90(x, out):\n    return torch.empty_like(x)\n',
        "[no-fake-kernel]: mine::f_sm90 fails on fake tensors",
        "fake(torch.ops.mine.f_sm90)",
        "UnsupportedOperatorException: mine.f_sm90.default",
        "fake(torch.ops.mine.f)",
        FAKE,
    ),
    "name of all overloads": Mistake(
        ATEN + 'called = []\nlib.impl("aten::softmax", lambda *a: called.append(1), "CPU")\n',
        "[dangling-implementation]: aten::softmax has kernels at CPU, but nothing defines it",
        "torch.softmax(torch.ones(2), 0), called[0]",
        "IndexError",  # it is not called
        "torch.softmax(torch.ones(2), 0)",
    ),
    "Meta kernel from Python": Mistake(
        DEFINE + 'lib.define("f(Tensor x) -> Tensor")\ndef register():\n    lib.impl("g", lambda x: x, "Meta")\n'
        "try:\n    register()\nexcept RuntimeError:\n    pass\n",
        "[dangling-implementation]: mine::g has kernels at Meta, but nothing defines it",
        "register()",
        "RuntimeError: operator mine::g does not exist",
        'lib.impl("h", lambda x: x, "CPU")',
    ),
    "default that is left out": Mistake(
        DEFINE + 'lib.define("f(Tensor x, Tensor? count=None) -> Tensor")\n'
        'def f_cpu(x, count):\n    return x + 1\nlib.impl("f", f_cpu, "CPU")\n',
        "[function-signature]: mine::f: f_cpu does not take the arguments of the schema",
        "torch.ops.mine.f(torch.ones(2), None)",
        "TypeError: f_cpu() missing 1 required positional argument: 'count'",
        "torch.ops.mine.f(torch.ones(2), torch.ones(2))",
    ),
    "keyword of another name": Mistake(
        DEFINE + 'lib.define("f.out(Tensor x, *, Tensor(a!) output) -> Tensor(a!)")\n'
        'def f_cpu(x, *, out):\n    return out.copy_(x)\nlib.impl("f.out", f_cpu, "CPU")\n',
        "[function-signature]: mine::f.out: f_cpu does not take the arguments of the schema",
        "torch.ops.mine.f.out(torch.ones(2), output=torch.ones(2))",
        "TypeError: f_cpu() got an unexpected keyword argument 'output'",
        "f_cpu(torch.ones(2), out=torch.ones(2))",
    ),
    "result that is an argument": Mistake(
        DEFINE + '@torch.library.custom_op("mine::f", mutates_args=())\n'
        "def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:\n    return x, y\n",
        "[returned-argument]: mine::f: f returns ",
        "torch.ops.mine.f(torch.ones(2), torch.ones(2))",
        "RuntimeError: f (with implementation in",
        "f._init_fn(torch.ones(2), torch.ones(2))",
    ),
    "write that the schema leaves out": Mistake(
        DEFINE + 'lib.define("f(Tensor x) -> ()")\nlib.impl("f", lambda x: None if x.add_(1) is x else None, "CPU")\n'
        'torch.library.register_fake("mine::f", lambda x: None, lib=lib)\n'
        "def calls(x):\n    torch.ops.mine.f(x)\n    return x\n",
        "mine::f",
        '1 // int(torch.compile(calls, backend="aot_eager")(torch.zeros(1)))',
        "ZeroDivisionError",  # the call is removed
        "1 // int(calls(torch.zeros(1)))",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    python = torch_python()
    program = tmp_path / "program.py"
    program.write_text(mistake.registers, encoding="utf-8")
    assert mistake.finding in call("check-invariants", "--config", "none", str(program)).out
    if TINY in mistake.helpers:
        ask = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
        if in_pytorch.run([python, "-c", ask], check=False).returncode:
            pytest.skip("this PyTorch has no backends in Python")
    expressions = f"EXPRESSIONS = {[mistake.fails, mistake.works]!r}\n"
    program.write_text(mistake.registers + mistake.helpers + expressions + OUTCOMES, encoding="utf-8")
    failed, worked = json.loads(in_pytorch.run([python, str(program)]).stdout)
    assert failed.startswith(mistake.error)
    assert worked == "works"
