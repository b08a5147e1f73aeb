"""Operators of which the kernel that torchgen wrote calls another one that has nothing for such tensors: each fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dispatch_cli.engine.call.kernels.callees import always_called_by
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Error
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import is_tensor
from dispatch_cli.model.universe import NON_FUNCTIONAL
from tests.engine.live_cases import LiveCase, Side

KINDS = ("cpu", "cpu sparse_csr", "cpu quantized", "cpu mkldnn")


def _error(side: Side, name: OperatorName, tensors: list[str]) -> Error | None:
    specs = [TensorSpec.parse(text) for text in tensors]
    return simulate(side.state, name, specs, [Context.parse("no_grad")]).end.error


def _ask(side: Side, _seed: int) -> list[Any]:
    """The calls that fail by what is called; in the others, PyTorch could compute with whatever it is given."""
    asked = []
    dispatcher = side.state.dispatcher
    for name in sorted(dispatcher, key=str):
        operator = dispatcher.operator(name)
        registration = operator.active(NON_FUNCTIONAL)
        if registration is None or operator.schema is None:
            continue
        if always_called_by(dispatcher, name, operator.tags, registration.kernel.debug) is None:
            continue
        count = sum(is_tensor(argument.type) for argument in operator.schema.arguments)
        for kind in KINDS if count else ():
            tensors = [kind] * count
            if _error(side, name, tensors) is not None:
                asked.append([str(name), tensors])
    return asked


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """Arguments that mean nothing can be refused before, in other words."""
    wrong, same = [], 0
    for (name, tensors), live in zip(asked, answers, strict=True):
        error = _error(side, OperatorName.parse(name), tensors)
        ours = "" if error is None else error.text.split("\n", 1)[0]
        same += live is not None and ours.split(" backend.")[0] == live.split(" backend.")[0]
        if live is None or error is None:
            wrong.append(f"{name} {tensors}: {live}, ours: {ours}")
    assert same > len(answers) * 0.6, f"{same} of {len(answers)}"
    return wrong


CASE = LiveCase(Path(__file__).with_name("live_callees.py"), _wrong, _ask)
