"""Random key-set expressions, evaluated by PyTorch and here."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dispatch_cli.bindings import Bindings
from dispatch_cli.engine.keys.expression import evaluate
from tests.engine.live_cases import LiveCase, Side


def expression(
    rng: random.Random, keys: Sequence[str], functionalities: Sequence[str], depth: int = 3, numbers: bool = True
) -> str:
    """A text of keys, functionalities, FULL_AFTER, numbers, brackets, ``|``, ``&`` and ``-``."""
    if depth == 0 or rng.random() < 0.3:
        return _atom(rng, keys, functionalities, numbers)
    parts = [expression(rng, keys, functionalities, depth - 1, numbers) for _ in range(rng.randint(1, 4))]
    text = parts[0] + "".join(f" {rng.choice('||&-')} {part}" for part in parts[1:])
    return f"({text})" if rng.random() < 0.4 else text


def _atom(rng: random.Random, keys: Sequence[str], functionalities: Sequence[str], numbers: bool) -> str:
    chance = rng.random()
    if chance < 0.7:
        return rng.choice(keys)
    if chance < 0.8:
        return rng.choice(functionalities)
    if chance < 0.9 or not numbers:
        return f"FULL_AFTER({rng.choice([*keys, *functionalities])})"
    return hex(rng.getrandbits(16 + rng.randint(0, 40)))


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
