"""Tensors that FakeTensorMode refuses, for PyTorch's own operators."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, EndKind, ErrorKind
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.engine.call.random_calls import is_error
from tests.engine.live_cases import LiveCase, Side


def reaches_fake_mode(call: Call) -> bool:
    """True if the mode gets this operator, and not those that it decomposes into."""
    error = call.end.error
    return call.end.kind is EndKind.HANDLER or (error is not None and error.kind is ErrorKind.MODES)


def _wrong(side: Side, _: Any, cases: Any) -> list[str]:
    wrong, ends = [], Counter[str]()
    for case in cases:
        tensors = [TensorSpec.parse(text) for text in case["tensors"]]
        contexts = [Context.parse(text) for text in case["contexts"]]
        call = simulate(side.state, OperatorName.parse(case["operator"]), tensors, contexts)
        if not reaches_fake_mode(call):
            ends["elsewhere"] += 1
            continue
        error = call.end.error
        raised = None if error is None else [error.type, error.text]
        ends["none" if error is None else error.text.split(" ")[0]] += 1
        if not is_error(raised, case["error"], error is None or error.whole):
            wrong.append(f"{case}, ours: {raised}")
    assert set(ends) == {"none", "elsewhere", "Mixing", "Please", "Can't"}, ends
    assert ends["elsewhere"] < sum(ends.values()) / 2, ends
    return wrong


CASE = LiveCase(Path(__file__).with_name("live_fake_tensors.py"), lambda _, seed: [seed, 3000], _wrong)
