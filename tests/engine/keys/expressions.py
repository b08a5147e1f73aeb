"""Random key-set expressions, evaluated by PyTorch and here."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from dispatch_cli.bindings import Bindings
from dispatch_cli.engine.keys.expression import evaluate
from tests.engine.keys.random_expressions import expression
from tests.engine.live_cases import LiveCase, Side


def _ask(side: Side, seed: int) -> list[str]:
    rng, universe = random.Random(seed), side.universe
    keys = [key for key in universe.ids if key in universe.parseable]
    functionalities = [name for name in universe.per_backend if name in universe.parseable]
    return [expression(rng, keys, functionalities) for _ in range(1500)]


def _wrong(side: Side, texts: Any, answers: Any) -> list[str]:
    names, wrong = Bindings(side.universe).space, []
    for text, live in zip(texts, answers, strict=True):
        keys = evaluate(side.universe, text).keys
        highest = names.highest(keys.bits)
        ours = {"raw": keys.bits, "text": str(keys), "highest": highest.value}
        assert names.text(highest) == keys.highest_priority()
        if live is not None and any(ours[field] != live[field] for field in ours if live[field] is not None):
            wrong.append(f"{text}: {live}, ours: {ours}")
    assert sum(live is not None for live in answers) > len(answers) / 4
    return wrong


CASE = LiveCase(Path(__file__).with_name("live_expressions.py"), _ask, _wrong)
