"""Evaluates conditions about PyTorch, and writes which of them hold. Runs in the Python that has PyTorch.

usage: python conditions_probe.py OUT CONDITION…

A condition is a dotted name below ``torch``, a call of one without arguments, or ``hasattr`` of one. It is looked up
part by part: nothing is evaluated as Python.
"""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_HASATTR = re.compile(r"hasattr\((torch[\w.]*), ['\"](\w+)['\"]\)")


def answer(condition: str) -> bool:
    """The truth of a condition. Errors: AttributeError and whatever PyTorch raises."""
    match = _HASATTR.fullmatch(condition)
    if match is not None:
        return hasattr(_value(match[1]), match[2])
    value = _value(condition.removesuffix("()"))
    return bool(value() if condition.endswith("()") else value)


def _value(name: str) -> Any:
    value: Any = import_module("torch")
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def main(out: str, conditions: list[str]) -> None:
    """Write the answers; a condition that cannot be answered is left out."""
    answers = {}
    for condition in conditions:
        try:
            answers[condition] = answer(condition)
        except Exception:  # noqa: PERF203  (of PyTorch: the condition stays open)
            continue
    Path(out).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
