"""Calls with fake tensors: FakeTensorMode does what the engine says.

A sample of what ``python -m tests.engine.call.fake PYTHON`` does with all operators.
"""

from __future__ import annotations

import random
from typing import Any

from tests.engine.call.fake.__main__ import RandomOperator, operators_of, plan_of, state_of, table
from tests.engine.call.fake.judge import judge, live_answers
from tests.engine.live_cases import LiveCase, Side

ALWAYS = (
    *("aten::add.Tensor", "aten::add_.Tensor", "aten::mm", "aten::copy_", "aten::_foreach_add.List", "aten::nextafter"),
    *("aten::_foreach_add_.List", "aten::_foreach_copy", "aten::_foreach_sin_", "aten::_foreach_pow.Scalar"),
    *("aten::bitwise_and.Scalar", "aten::rsub.Scalar", "aten::add.Scalar", "aten::from_file.out", "aten::isinf"),
    *("aten::_foreach_abs", "aten::stack", "aten::clone", "aten::_foreach_maximum.Scalar_out"),
    *("aten::mul_.Tensor", "aten::lift_fresh", "aten::lift_fresh_copy", "aten::t_", "aten::squeeze_", "aten::sin"),
    *("aten::bitwise_left_shift_.Tensor_Scalar", "aten::convolution_overrideable", "aten::segment_reduce"),
)
"""Each goes a way of its own."""
NOT_KNOWN = (
    *("aten::slice_scatter", "quantized::mul_scalar.Tensor", "quantized::mul.Scalar"),
    *("aten::_fft_r2c", "aten::_amp_foreach_non_finite_check_and_unscale"),
)
"""Operators of the recordings with kernels written by hand, of which the engine does not know what they call."""
OWN = ("plain", "requires_grad", "inference_mode", "mixed", "sparse", "modes", "modes alone")
RANDOM = ("plain", "alone", "requires_grad", "inference_mode", "sparse", "mixed")


def _ask(side: Side, seed: int) -> Any:
    dice = random.Random(seed)
    names = dice.sample(side.state.dispatcher.names(), 240)
    made = operators_of(dice, 60, side.universe.fake_overrides)
    return [
        {"operators": [*ALWAYS, *names], "kinds": OWN, "seed": str(seed), "library": []},
        {"operators": [each.name for each in made], "kinds": RANDOM, "seed": str(seed), "library": plan_of(made)},
    ]


def _answers(python: str, asked: Any) -> Any:
    return [[*live_answers(python, **plan)] for plan in asked]


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """The calls of a kernel that is written by hand are not known, so a few of PyTorch's own may differ, live."""
    made = [RandomOperator(**each) for each in asked[1]["library"]]
    own, ours = [*judge(side.state, answers[0])], [*judge(state_of(made, side.data), answers[1])]
    judged = [verdict for verdict in own if verdict.judged]
    refused = {each.answer["own_text"].split(" ")[0] for each in judged if each.path == "refused"}
    assert len(judged) > len(asked[0]["operators"]) * len(OWN) / 2
    assert {"Mixing", "Please", "Can't"} <= refused
    assert sum(verdict.left_open for verdict in own) <= 0.05 * len(judged), table(own)
    assert len(ours) == len(made) * len(RANDOM)
    few = [verdict for verdict in judged if not verdict.agrees and verdict.answer["operator"] not in NOT_KNOWN]
    few_allowed = 0 if side.name == side.data else round(0.02 * len(judged))
    wrong = [verdict for verdict in ours if not verdict.agrees]
    return [f"{each.answer}: {each.why}" for each in [*few[few_allowed:], *wrong]]


CASE = LiveCase(_answers, _ask, _wrong)
