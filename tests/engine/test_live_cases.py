"""Answers of a PyTorch: the recorded ones, and those of a live PyTorch to the recorded questions."""

from __future__ import annotations

import pytest

from tests.capture.support import live_seed, torch_python
from tests.engine import test_order
from tests.engine.call import callees, own_kernels, random_calls
from tests.engine.call.fake import test_fake
from tests.engine.call.higher_order import higher_order_cases
from tests.engine.dispatcher import test_fakes
from tests.engine.keys import test_key_expression
from tests.engine.live_cases import LiveCase, embedded_side, live_side, recorded_questions
from tests.support import load_recording

CASES: dict[str, LiveCase] = {
    "calls": random_calls.CASE,
    "own-kernels": own_kernels.CASE,
    "factories": own_kernels.FACTORIES,
    "callees": callees.CASE,
    "fake-mode": test_fake.CASE,
    "higher-order": higher_order_cases.CASE,
    "fakes": test_fakes.CASE,
    "orders": test_order.CASE,
    "expressions": test_key_expression.CASE,
}
RECORDED = {
    "2.4.1": ("own-kernels", "callees", "fake-mode", "fakes", "orders", "expressions"),
    "2.13.0": tuple(name for name in CASES if name != "fake-mode"),
    "2.15.0": tuple(CASES),
}
"""Cases that are recorded of each version; the other scripts call functions that an old PyTorch does not have."""


def nearest_recording(torch: str, name: str) -> str:
    """The recorded version of that PyTorch, or else the newest one that has the case."""
    version = torch.partition("+")[0]
    return version if name in RECORDED.get(version, ()) else [*RECORDED][-1]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        pytest.param(version, name, marks=pytest.mark.slow if version == "2.13.0" else ())
        for version, names in RECORDED.items()
        for name in names
    ],
)
def test_recorded_answers(version: str, name: str) -> None:
    asked, answers = load_recording(f"{version}.random")[name]
    assert CASES[name].wrong(embedded_side(version), asked, answers) == []


@pytest.mark.live
@pytest.mark.parametrize("name", CASES)
def test_live_answers(name: str) -> None:
    case, side, python = CASES[name], live_side(), torch_python()
    if name not in RECORDED["2.4.1"] and side.universe.torch.startswith("2.4."):
        pytest.skip("the script calls functions that PyTorch 2.4 does not have")
    if case.ask is None:
        asked = recorded_questions(nearest_recording(side.universe.torch, name), name, side.universe)
    else:
        asked = case.ask(side, live_seed())
    wrong = case.wrong(side, asked, case.answered(python, asked))
    assert wrong == [], f"{len(wrong)}\n" + "\n".join(wrong[:20])
