"""Random key-set expressions against a live PyTorch of any version, whose universe is captured from it first.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``; ``DISPATCH_CLI_LIVE_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from dispatch_cli.engine.keys.expression import evaluate
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.engine.keys.random_expressions import expression

COUNT = 3000
SCRIPT = Path(__file__).with_name("live_expressions.py")


def answers(python: str, texts: list[str]) -> list[Any]:
    text = "".join(f"{text}\n" for text in texts)
    done = in_pytorch.run([python, str(SCRIPT)], text)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.live
def test_expressions_are_as_live_pytorch_has_them() -> None:
    python = torch_python()
    seed = os.environ.get("DISPATCH_CLI_LIVE_SEED") or str(random.SystemRandom().randrange(1, 1 << 31))
    universe = universes.from_data(live_universe(python))
    print(f"PyTorch {universe.torch}, seed {seed}")
    rng = random.Random(seed)
    (known,) = answers(python, [])
    members, raw = set(known["members"]), known["raw"]
    keys = [key for key in universe.ids if key in members]
    functionalities = [name for name in universe.per_backend if name in members]
    texts = [expression(rng, keys, functionalities, numbers=raw) for _ in range(COUNT)]
    names = Bindings(universe).space
    wrong = []
    for text, live in zip(texts, answers(python, texts)[1:], strict=True):
        found = evaluate(universe, text).keys
        highest = names.highest(found.bits)
        ours = {"raw": found.bits if raw else None, "text": str(found), "highest": highest.value}
        assert names.text(highest) == found.highest_priority()
        if ours != live:
            wrong.append((text, ours, live))
    assert wrong == [], f"seed {seed}"
