"""Answers of a PyTorch that has imported the library that a file declares, or one like it; or nonsense."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from dispatch_cli import universes
from tests.capture.support import state_of, universe_data
from tests.crossref.test_stand_in import with_higher_order
from tests.fuzz import words

SCRIPT = '#!/bin/sh\ncp answer.json "$2"\n'
"""In place of a Python: it gives the prepared answer."""


def library(dice: random.Random, declared: Any, careful: bool) -> str:
    """The answer of `capture/probe.py`. declared: a document of declarations."""
    operators = [_operator(dice, schema) for schema in _declared(declared) if dice.random() < 0.9]
    state = state_of(operators, _universe(dice.choice(universes.names())), modules=["m"])
    return json.dumps(state if careful else _bent(dice, copy.deepcopy(state)))


def answers(dice: random.Random, careful: bool) -> str:
    """The answer of `capture/answers_probe.py`."""
    data = copy.deepcopy(_answers())
    return json.dumps(data if careful and dice.random() < 0.5 else _bent(dice, data))


_universe = cache(universe_data)
_answers = cache(with_higher_order)


def _declared(document: Any) -> Iterator[tuple[str, list[str]]]:
    """The schemas of a document, and the keys of their kernels."""
    entries = document.get("operators") if isinstance(document, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("func"), str):
            kernels = entry.get("dispatch")
            keys = [key for text in kernels for key in text.split(", ")] if isinstance(kernels, dict) else []
            yield entry["func"], keys


def _operator(dice: random.Random, declared: tuple[str, list[str]]) -> dict[str, Any]:
    schema, keys = declared
    kept = [key for key in keys if dice.random() < 0.9] + [words.key(dice) for _ in range(dice.choice([0, 0, 1]))]
    kernels = {key: [_kernel(dice)] for key in kept if key in words.UNIVERSE.runtime or key in words.UNIVERSE.aliases}
    imported = {"schema": True, "kernels": dict.fromkeys(kernels, 1), "python": dice.choice([[], [], ["CPU"]])}
    return {
        "name": schema.partition("(")[0],
        "schema": schema if dice.random() < 0.9 else words.schema(dice),
        "debug": "registered at demo.cpp:1",
        "alias_analysis": "FROM_SCHEMA",
        "kernels": kernels,
        "imported": imported if dice.random() < 0.8 else {},
    }


def _kernel(dice: random.Random) -> dict[str, Any]:
    debug = words.sometimes_harmful(dice, f"registered at demo.cpp:{dice.randrange(99)}", 0.1)
    fallthrough = dice.random() < 0.1
    return {"debug": debug, "signature": None, "fallthrough": fallthrough, "boxed": True, "unboxed": False}


def _bent(dice: random.Random, data: dict[str, Any]) -> dict[str, Any]:
    """The data with a part or two dropped or replaced."""
    for _ in range(dice.choice([0, 1, 1, 2])):
        holder: Any = data
        while True:
            key = dice.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
            if isinstance(holder[key], dict | list) and holder[key] and dice.random() < 0.7:
                holder = holder[key]
            else:
                break
        if dice.random() < 0.3:
            del holder[key]
        else:
            holder[key] = dice.choice(
                [None, 0, 1 << 70, "x", [], {}, [[]], words.key(dice), dice.choice(words.HARMFUL)]
            )
        if not data:
            break
    return data
