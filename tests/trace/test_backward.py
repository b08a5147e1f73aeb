"""Backward calls name the forward call that made their node, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.trace.calls import NONE
from dispatch_cli.trace.recording import read
from tests.trace.recorded import run

PROGRAM = '''
import json, sys, torch
from torch.utils.checkpoint import checkpoint

MADE = {}


def note(line, *tensors):
    """The line, and the name of the node, of each node that was made."""
    for one in tensors:
        if one.grad_fn is not None and hasattr(one.grad_fn, "_sequence_nr"):
            MADE.setdefault(one.grad_fn._sequence_nr(), (line, one.grad_fn.name()))
    return tensors[0]


def line():
    return sys._getframe(1).f_lineno


class Silent(torch.autograd.Function):
    """Its forward calls nothing that grad mode is on for."""

    @staticmethod
    def forward(ctx, x):
        return torch.exp(x)

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Several(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x * y).sin(), x + y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h


@torch.library.custom_op("judged::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_autograd(lambda ctx, g: g * 2)


class Trainer:
    def backward(self, loss, **more):
        loss.backward(**more)


w = torch.nn.Parameter(torch.randn(4, 4))
x = torch.randn(4, 4, requires_grad=True)
for step in range(2):
    a = note(line(), x * w)
    b = a > 0
    c = note(line(), Silent.apply(a))
    d = c.detach()
    e = note(line(), torch.nn.functional.linear(c, w))
    f = note(line(), *Several.apply(e, c))
    g = note(line(), twice(f))
    h = note(line(), g.relu())
    h.argmax()
    i = note(line(), Silent.apply(h))
    with torch.no_grad():
        (i * 2).sum()
    j = note(line(), checkpoint(lambda v: torch.cos(v), i, use_reentrant=True))
    k = note(line(), j[0].clone())
    l = note(line(), torch.where(k > 0, k, k * 2))
    loss = note(line(), l.sum())
    loss.detach()
    with torch.no_grad():
        loss * 2
    if step:
        Trainer().backward(loss)
    else:
        loss.backward()
y = torch.ones(3, requires_grad=True)
z = note(line(), y.pow(3))
(first,) = torch.autograd.grad(z.sum(), y, create_graph=True)
first.detach()
(second,) = torch.autograd.grad(first.sum(), y, create_graph=True)
second.sum().backward()
print(json.dumps(MADE))
'''


@pytest.mark.live
def test_what_is_said_of_a_program_is_so(tmp_path: Path) -> None:
    """PyTorch says which line made each node, and what it is."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = run(tmp_path / "program.py")
    assert (done.code, done.err) == (0, "")
    nodes = {int(number): tuple(of) for number, of in json.loads(done.out).items()}
    recording = read(str(tmp_path / "recording"))
    calls = recording.calls
    recorded_nodes, unsaid = set(), set()
    for call in range(len(calls)):
        number, forward = calls.sequence[call], recording.forward_of(call)
        if forward is None:
            if calls.forward_thread[call] != NONE and number in nodes:
                unsaid.add(nodes[number])
            continue
        place = recording.place_of(forward)
        assert place is not None
        if number in nodes:
            assert (place.line, place.function) == (nodes[number][0], "<module>"), (nodes[number], call)
            recorded_nodes.add(nodes[number])
    functions = {"SilentBackward", "SeveralBackward", "CheckpointFunctionBackward"}
    assert {name for _, name in recorded_nodes} & functions == set()
    assert {name for _, name in unsaid} <= functions
    assert "GeneratedBackwardFor_judged_twice_defaultBackward" in {name for _, name in recorded_nodes}
    assert len(recorded_nodes) > 6
