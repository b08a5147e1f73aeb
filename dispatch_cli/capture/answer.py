"""The answer of a probe, read safely: checks of its shape, and of its parts against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dispatch_cli import universes
from dispatch_cli.capture.probe import FORMAT
from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.model.budget import Budget, OverBudget, parse_json

Shape = Any
"""Shape of a value that JSON can express. A type, or None: of that type and no other, so that True is no number; but
float: a number with or without a fraction, below `MAX_FLOAT`. A range: a number in it. A list of a shape: a list of
such elements. A tuple: a list that begins with such elements. A mapping of `str`: an object with such values. Another
mapping: an object with these fields, of which those that end with ``?`` can be missing; others are left alone.
`Either`: of one of some shapes."""
MAX_STEP = 80
"""Characters of a name that the place in a message has."""
MAX_FLOAT = 1 << 62
"""Bound of the amount of a number with a fraction: JSON can express infinite ones, as ``1e999``."""
MAX_BYTES = 128 << 20
"""Bytes of an answer. PyTorch 2.15 has 6 MiB to say of its state, and 51 with its own answers: 230,000 things."""
_WORDS = {str: "a string", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


class Either:
    """Shapes, one of which a value has."""

    def __init__(self, *shapes: Shape) -> None:
        self.shapes = shapes


class Malformed(ValueError):
    """A value is not what it must be; the message begins with its place, such as ``operators[0].name``."""


def look(shape: Shape, value: Any, place: str = "") -> None:
    """Look at a value. place: where in the data it is. Errors: Malformed."""
    kind = type(shape)
    if not _is_of(shape, kind, value):
        raise Malformed(f"{place} must be {_words(shape)}".lstrip())
    if kind is dict:
        fields = dict.fromkeys(value, shape[str]) if str in shape else shape
        for field, item in fields.items():
            name = field if str in shape else field.removesuffix("?")
            if name in value:
                look(item, value[name], f"{place}.{name[:MAX_STEP]}" if place else name)
            elif name == field:
                raise Malformed(f"{place}.{name} is missing".lstrip("."))
    elif kind is list:
        for number, element in enumerate(value):
            look(shape[0], element, f"{place}[{number}]")
    elif kind is tuple:
        for number, item in enumerate(shape):
            look(item, value[number], f"{place}[{number}]")


def _is_of(shape: Shape, kind: type, value: Any) -> bool:
    """True if a value is of a shape, which is of that kind; of a container only the outside is looked at."""
    if shape is float:
        return type(value) in (int, float) and abs(value) < MAX_FLOAT
    if kind is type:
        return type(value) is shape
    if kind is Either:
        return any(_has(each, value) for each in shape.shapes)
    if kind is range:
        return type(value) is int and value in shape
    if kind is tuple:
        return type(value) is list and len(value) >= len(shape)
    return type(value) is kind


def _has(shape: Shape, value: Any) -> bool:
    try:
        look(shape, value)
    except Malformed:
        return False
    return True


def _words(shape: Shape) -> str:
    if isinstance(shape, Either):
        return " or ".join(map(_words, shape.shapes))
    if isinstance(shape, tuple):
        return f"a list of {len(shape)} elements"
    if isinstance(shape, range):
        return f"a number from {shape.start}"
    return "null" if shape is None else _WORDS[shape if isinstance(shape, type) else type(shape)]


_TEXT = Either(str, None)
_PLAIN: Shape = Either(str, bool, int)
"""Data that a declaration file can hold: no numbers with a fraction, no empty values."""
for _ in range(4):  # so many containers are inside one another where the probe says what it knows of one function
    _PLAIN = Either(str, bool, int, [str], {str: _PLAIN})
_FALLBACK = {"key": str, "debug": str, "fallthrough": bool}
_KERNEL = {
    "debug": str,
    "signature": _TEXT,
    "fallthrough": bool,
    "boxed": bool,
    "unboxed": bool,
    "redispatches?": _PLAIN,
    "wraps?": {str: _PLAIN},
    "fake?": {str: _PLAIN},
}
_OPERATOR = {
    "name": str,
    "schema": _TEXT,
    "debug": _TEXT,
    "alias_analysis": _TEXT,
    "kernels": {str: [_KERNEL]},
    "tags": [str],
    "python": {str: str},
    "imported": {"schema?": bool, "kernels?": {str: int}, "python?": [str]},
    "fake_tensor_mode?": {str: _PLAIN},
}
_DEFINED = {"debug": str, "alias_analysis": str}
_IMPL = Either(str, {"kernel": str, "deferred_error?": bool, "error?": {str: str}})
_HIGHER_ORDER = {
    "name": str,
    "dispatch": {str: _IMPL},
    "modes": {str: _IMPL},
    "subclasses": {str: _IMPL},
    "transforms": {str: _IMPL},
    "fallthrough": [str],
    "autograd": Either(_IMPL, None),
    "functionalize": Either(_IMPL, None),
    "side_effect": bool,
}
_STATE = {
    "torch": str,
    "git": str,
    "build": str,
    "modules": [str],
    "known": bool,
    "notes": [str],
    "operators": [_OPERATOR],
    "higher_order_operators": [_HIGHER_ORDER],
    "imported_fallbacks": [str],
    "imported_higher_order_operators": [str],
    "modes": [str],
    "skipped": [{"name": str, "line": str}],
    # fields that older recordings do not have
    "replaced_fallbacks?": [_FALLBACK],
    "conditions?": {str: bool},
}
_ANSWERS = {
    "texts": {str: (str, str)},
    "broken": {str: str},
    "resolve_rows": [[str]],
    "resolved": {str: int},
    "higher_order_answers": {str: (int, [str])},
}


class AnswerError(Exception):
    """An answer cannot be used; the message says why."""


def read(file: Path, with_answers: bool) -> dict[str, Any]:
    """The answer in a file. with_answers: it has PyTorch's answers besides the state. Errors: AnswerError."""
    try:
        content = read_plain(str(file), MAX_BYTES)
        data = parse_json(content, Budget(len(content)))
    except (SourceError, OverBudget) as error:
        raise AnswerError(f"gave an answer that cannot be read: {error.message}") from None
    except ValueError as error:
        raise AnswerError(f"gave an answer that cannot be read: {error}") from None
    return checked(data, with_answers)


def checked(data: Any, with_answers: bool) -> dict[str, Any]:
    """An answer that is what it must be, and whose parts belong together. Errors: AnswerError."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise AnswerError("gave an answer in another format")
    try:
        look({**_STATE, **(_ANSWERS if with_answers else {})}, data)
        for number, operator in enumerate(data["operators"]):
            if operator["schema"] is not None:
                look(_DEFINED, operator, f"operators[{number}]")
        universes.from_data(data.get("universe"))
        # a capture writes all of its fields, also those that nobody knows yet
        look({str: Either(_PLAIN, [_FALLBACK])}, data["universe"], "universe")
        for complaint in _contradictions(data, with_answers):
            raise Malformed(complaint)
    except universes.UniverseError as error:
        raise AnswerError(f"gave an invalid answer: universe: {error}") from None
    except Malformed as error:
        raise AnswerError(f"gave an invalid answer: {error}") from None
    return data


def _contradictions(data: Mapping[str, Any], with_answers: bool) -> Iterator[str]:
    """Contradictions between parts of the answer."""
    keys = {*data["universe"]["ids"]}
    for operator in data["operators"]:
        named = {**operator["kernels"], **operator["python"]}
        for key in (key for key in named if key not in keys):
            yield f"the operator {operator['name']!a:.200} has a kernel at {key!a:.80}, which is not a key"
        if not all(operator["kernels"].values()):
            yield f"the operator {operator['name']!a:.200} has a key without kernels"
    for operator in data["higher_order_operators"]:
        for key in (key for key in (*operator["dispatch"], *operator["fallthrough"]) if key not in keys):
            yield f"the operator {operator['name']!a:.200} names {key!a:.80}, which is not a key"
    if with_answers:
        slots, rows = len(data["universe"]["runtime"]) + 1, data["resolve_rows"]
        if any(len(row) != slots for row in rows):
            yield f"each of resolve_rows must have {slots} elements, one for each slot"
        if any(len(pair) != 2 for pair in (*data["texts"].values(), *data["higher_order_answers"].values())):
            yield "each of texts and higher_order_answers must have 2 elements"
        asked = [*data["resolved"].values(), *(row for row, _ in data["higher_order_answers"].values())]
        if not all(0 <= row < len(rows) for row in asked):
            yield "resolved and higher_order_answers must name elements of resolve_rows"
