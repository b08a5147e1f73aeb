"""The keys of a call without an operator, as a live PyTorch has them."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.resolve.call_keys import call_keys_report
from dispatch_cli.model.call import CallError, Context, TensorSpec
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.engine.call.random_calls import Generator

HERE = Path(__file__).parent
SEED = "DISPATCH_CLI_LIVE_SEED"
COUNT = int(os.environ.get("DISPATCH_CLI_LIVE_COUNT", "700"))
NESTED = (
    ("inference_mode", "inference_mode(False)"),
    ("inference_mode(False)", "inference_mode"),
    ("no_grad", "enable_grad", "inference_mode"),
    ("autocast cpu", "autocast cpu off"),
    ("autocast cpu off", "autocast cpu"),
    ("inference_mode", "vmap", "inference_mode(False)", "grad"),
    ("below_ADInplaceOrView", "inference_mode(False)"),
    ("grad", "inference_mode", "autocast cpu", "inference_mode(False)", "autocast cpu off"),
)
TENSORS = ("cpu", "cpu sparse", "cpu requires_grad", "cpu inference", "cpu conj", "meta", "cpu fake", "cpu nested")


@pytest.mark.live
def test_keys_of_random_tensors_and_contexts(tmp_path: Path) -> None:
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    python = torch_python()
    universe = universes.from_data(live_universe(python))
    asked: list[dict[str, Any]] = [
        {"tensors": [tensor], "contexts": list(contexts)} for contexts in NESTED for tensor in TENSORS
    ]
    generator = Generator(universe, seed)
    while len(asked) < COUNT:
        for operator in generator.operators(10, 10):
            asked += [{"tensors": list(call.tensors), "contexts": list(call.contexts)} for call in operator.calls]
    question, answer = tmp_path / "asked.json", tmp_path / "said.json"
    ids = {"ids": dict(universe.ids), "functionalities": list(universe.functionalities)}
    question.write_text(json.dumps({**ids, "calls": asked}), encoding="utf-8")
    script = HERE / "live_call_keys.py"
    in_pytorch.run([python, str(script), str(question), str(answer)])
    answers = json.loads(answer.read_text(encoding="utf-8"))
    wrong, unmade = [], 0
    for one, live in zip(asked, answers, strict=True):
        tensors, contexts = [*map(TensorSpec.parse, one["tensors"])], [*map(Context.parse, one["contexts"])]
        if live is None:
            unmade += 1
            continue
        try:
            report = call_keys_report(universe, tensors, contexts)
        except CallError as error:
            wrong.append(f"{one}: {error}")
            continue
        ours = {
            "tensors": [sorted(tensor.keys) for tensor in report.tensors],
            "included": sorted(report.included.functionalities),
            "excluded": sorted(report.excluded.functionalities),
            "printed": report.printed,
            "highest": report.highest,
        }
        wrong += [f"{one}: {key}\n  live {live[key]}\n  ours {ours[key]}" for key in ours if ours[key] != live[key]]
    assert wrong == [], f"seed {seed}: {len(wrong)} of {len(asked)}\n" + "\n".join(wrong[:12])
    assert unmade < len(asked) / 3, f"seed {seed}: {unmade} of {len(asked)} not made"
    print(f"{len(asked) - unmade} agree, {unmade} not makeable")
