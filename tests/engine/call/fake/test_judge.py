"""The judge: what PyTorch did decides whether and how far a call is judged, whatever the engine says of it."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.history.state import State
from tests.engine.call.fake import judge

SHOWN = "aten.nonzero.default"
ANSWERS: dict[str, dict[str, Any]] = {
    "fallback": {"own_error": "NotImplementedError", "own_text": "Could not run 'aten::sin' with arguments from"},
    "fallback, no device": {"own_error": "AssertionError", "own_text": "Torch not compiled with CUDA enabled"},
    "fallback, refused": {"own_error": "RuntimeError", "own_text": "a size", "meta_text": "not here"},
    "implementation": {"own_error": "DynamicOutputShapeException", "own_text": SHOWN},
    "implementation, arguments": {"own_error": "IndexError", "own_text": "out of range"},
    "meta": {"own_error": None, "own_text": ""},
    "meta, arguments": {"own_error": "RuntimeError", "own_text": "a size"},
    "none": {"own_error": "UnsupportedOperatorException", "own_text": SHOWN},
    "outside": {"error": None},
    "outside, arguments": {"error": "RuntimeError", "text": "a size"},
    "raised": {"error": "NotImplementedError", "text": "There were no tensor arguments to this function (e.g.)"},
    "raised, arguments": {"error": "RuntimeError", "text": "a leaf Variable that requires grad"},
}
"""Output of the live script for calls, by what happened; one of each kind that the judge distinguishes."""
CALLS = {
    "aten::sin": ["cpu fake"],
    "aten::nonzero": ["cpu fake"],
    "aten::sin.out": ["cpu fake", "cpu fake sparse"],
    "aten::isinf": ["cpu fake sparse"],
    "aten::bitwise_and.Scalar": ["cpu fake sparse"],
    "aten::hstack": ["cpu fake", "cpu fake"],
    "mkldnn::_reorder_convolution_weight": ["cpu fake"],
}
"""Calls that go each of these ways."""


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    state: State = load_state([], bases=["torch-2.15"])
    answers = [
        {"operator": name, "tensors": specs, "contexts": ["mode=FakeTensorMode"]} for name, specs in CALLS.items()
    ]
    predictions = [judge.predicted(state, answer) for answer in answers]
    simulated = [prediction for prediction in predictions if not isinstance(prediction, str)]
    assert len({judge.path_of(call.end) for call in simulated}) > 4
    return simulated


@pytest.mark.parametrize("kind", ANSWERS)
def test_it_is_judged_whatever_the_engine_says(calls: list[Call], kind: str) -> None:
    path = kind.partition(",")[0]
    answer = {
        "operator": "aten::nonzero",
        "shown": SHOWN,
        "function": None,
        "meta_text": "",
        "path": path,
        **ANSWERS[kind],
    }
    verdicts = [judge.verdict(answer, call) for call in calls]
    assert len({(verdict.judged, verdict.part) for verdict in verdicts}) == 1
    assert verdicts[0].judged is not (kind in {"outside, arguments", "raised, arguments"})
    assert bool(verdicts[0].part) is (path not in {"outside", "raised"} and "," in kind)
    assert not all(verdict.agrees for verdict in verdicts)
