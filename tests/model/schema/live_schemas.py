"""Say what a live PyTorch makes of schema texts: JSON in, JSON out.

usage: PYTHON live_schemas.py < TEXTS > ANSWERS   (run with the Python that has PyTorch)
"""

import importlib
import json
import sys
from functools import partial
from typing import Any

core: Any = importlib.import_module("torch")._C


def answer(parse: Any, text: str) -> list[str | None]:
    """[None, what it prints] or [exception, its text]; what is printed is None where it is no UTF-8."""
    try:
        parsed = parse(text)
    except Exception as error:
        return [type(error).__name__, str(error)]
    try:
        return [None, str(parsed)]
    except UnicodeDecodeError:
        return [None, None]


def answers(texts: list[str]) -> list[list[list[str | None]]]:
    """Answers for every text: as a schema, as a schema without type variables, as an operator's name."""
    parsers = (core.parse_schema, partial(core.parse_schema, allow_typevars=False), operator_name)
    return [[answer(parse, text) for parse in parsers] for text in texts]


def operator_name(text: str) -> str:
    """An empty text where *text* is a name."""
    core._dispatch_dump(text)
    return ""


if __name__ == "__main__":
    json.dump(answers(json.load(sys.stdin)), sys.stdout)
