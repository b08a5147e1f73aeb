"""Kernels that are registered and taken away while a program runs, in orders that leave slots stale.

Each kernel notes that it ran, with the line on which it is registered: what the trace says of a call must be that line.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dispatch_cli.answers.trace.view import registered_at
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.trace.calls import NONE
from dispatch_cli.trace.explained import Explainer
from dispatch_cli.trace.recording import read
from dispatch_cli.trace.state import state_of
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.trace.recorded import recorder_command

pytestmark = pytest.mark.live

PROGRAM = """
import gc, json, sys, torch, weakref
from torch.library import Library
ran, told, made = [], [], []
def noting(copies=True):
    line = sys._getframe(1).f_lineno
    def kernel(*arguments):
        ran.append(line)
        return arguments[-1].clone() if copies else arguments[-1]
    made.append(weakref.ref(kernel))
    return kernel
def ask(operator, *arguments):
    ran.clear()
    operator(*arguments)
    told.append([operator.name(), ran[0] if ran else None])
own = Library("own", "DEF"); own.define("op(Tensor x) -> Tensor")
x, sin = torch.ones(2, requires_grad=True), torch.ops.aten.sin.default
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]).requires_grad_()
# PyTorch's own kernel, and others in its place; the addresses of those that are gone are used again
ask(sin, x)
for _ in range(2):
    A = Library("aten", "IMPL"); A.impl("sin", noting(), "CPU")
    ask(sin, x)
    A._destroy(); del A
    ask(sin, x)
    B = Library("aten", "IMPL"); B.impl("sin", noting(), "CPU")
    ask(sin, x)
    B._destroy(); del B
C = Library("aten", "IMPL"); C.impl("sin", noting(), "CPU")
ask(sin, x)
# one on top of another, and gone again
D = Library("own", "IMPL"); D.impl("op", noting(), "CompositeImplicitAutograd")
op = torch.ops.own.op.default
ask(op, x)
E = Library("own", "IMPL"); E.impl("op", noting(), "CPU")
ask(op, x)
F = Library("own", "IMPL"); F.impl("op", noting(), "CPU", allow_override=True)
ask(op, x)
F._destroy(); del F
ask(op, x)
E._destroy(); del E
# the slot at AutogradNestedTensor is not computed anew
G = Library("own", "IMPL"); G.impl("op", noting(), "Autograd")
ask(op, nested)
H = Library("own", "IMPL"); H.impl("op", noting(), "NestedTensorCPU")
ask(op, nested)
torch._C._dispatch_check_invariants("own::op")
# a fallback of all operators
wrapper = torch._C._parse_dispatch_key("TESTING_ONLY_GenericWrapper")
I = Library("_", "IMPL"); I.fallback(noting(False), "TESTING_ONLY_GenericWrapper")
with torch._C._IncludeDispatchKeyGuard(wrapper):
    ask(op, x)
I._destroy(); del I
ask(op, x)
gc.collect()
rules = {name: sorted(key.name for key in one.py_kernels) for name, one in torch._ops._higher_order_ops.items()}
print(json.dumps([told, [one() is not None for one in made], rules]))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Any]]:
    """The recording, and what the program says of itself."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = in_pytorch.run(recorder_command(folder / "r.trace", "program.py"), folder=folder)
    plain = in_pytorch.run([torch_python(), "program.py"], folder=folder)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    return str(folder / "r.trace"), json.loads(done.stdout)


def test_the_kernels_are_those_that_ran(recorded: tuple[str, list[Any]]) -> None:
    file, (printed, kept, _) = recorded
    assert not any(kept[:4])
    recording = read(file)
    assert [stop for stop in recording.stopped if stop.reason == "partial"] == []
    known = state_of(recording)
    explainer = Explainer(recording, known.state, known.not_known)
    results = []
    for number in range(len(recording.calls)):
        name = recording.operator_of(number)
        if recording.calls.parent[number] == NONE and name in ("aten::sin", "own::op"):
            explained = explainer.of_call(number)
            places = [registered_at(hop.live.kernel) or "" for hop in explained.hops]
            lines = [int(place.partition("program.py:")[2]) for place in places if "program.py:" in place]
            results.append([name, lines[0] if lines else None])
    assert len(printed) == 16
    assert results == printed


def test_the_higher_order_operators_are_there_with_their_keys(recorded: tuple[str, list[Any]]) -> None:
    file, (_, _, rules) = recorded
    of_kind = {ImplKind.AUTOGRAD: "Autograd", ImplKind.FUNCTIONALIZE: "Functionalize"}
    kinds = (ImplKind.DISPATCH, *of_kind)
    tables = {
        operator.name: sorted(
            of_kind.get(impl.kind, impl.name) for impl in operator.impls if impl.kind in kinds and not impl.fallthrough
        )
        for operator in state_of(read(file)).state.higher_order_operators
    }
    # and those of modules that a program imports with its first compiled function
    assert {name: tables.get(name) for name in rules} == rules
    assert "cond" in rules


def test_the_stale_slot_is_found(recorded: tuple[str, list[Any]]) -> None:
    """PyTorch's own check of its invariants holds, as the program asserts."""
    file, _ = recorded
    answer = json.loads(call("trace", file, "--only", "stale", "--format", "json").out)
    rows = [
        (finding["kind"], finding["operator"], finding["key"], finding["calls"], finding["keys"])
        for finding in answer["findings"]
    ]
    assert [row for row in rows if row[0] == "stale"] == [
        ("stale", "own::op", "AutogradNestedTensor", 1, ["NestedTensorCPU"])
    ]
    explained = call("explain", "own::op", "AutogradNestedTensor", "--base", file)
    assert "because registering the kernel registered at program.py:45 at NestedTensorCPU did not" in explained.out
