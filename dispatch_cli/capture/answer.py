"""The answer of a probe, read safely: checks of its shape, and of its parts against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dispatch_cli import universes
from dispatch_cli.capture.probe import FORMAT
from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.model.budget import Budget, OverBudget, parse_json

Check = Callable[[Any], None]
"""Looks at a value. Errors: Malformed."""
MAX_STEP = 80
"""Characters of a name that the place in a message has."""
MAX_BYTES = 128 << 20
"""Bytes of an answer. PyTorch 2.15 has 6 MiB to say of its state, and 51 with its own answers: 230,000 things."""
DEPTH = 4
"""So many containers are inside one another where the probe says what it knows of one function."""


class Malformed(ValueError):
    """A value is not what it must be. place: where in the data, such as ``operators[0].name``."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.place = ""
        self.expected = expected

    def within(self, step: str | int) -> Malformed:
        """The error seen from the container: *step* is a field or the number of an element."""
        name = f"[{step}]" if isinstance(step, int) else step[:MAX_STEP]
        joint = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{name}{joint}{self.place}"
        return self

    def __str__(self) -> str:
        return f"{self.place} {self.expected}".lstrip()


def of_type(kind: type, words: str) -> Check:
    """A value of this type and no other; True is no number."""

    def check(value: Any) -> None:
        if type(value) is not kind:
            raise Malformed(f"must be {words}")

    return check


def _look(item: Check, value: Any, step: str | int) -> None:
    """Look at a part of a container. Errors: Malformed, with its place."""
    try:
        item(value)
    except Malformed as error:
        raise error.within(step) from None


def _takes(check: Check, value: Any) -> bool:
    try:
        check(value)
    except Malformed:
        return False
    return True


def list_of(item: Check, length: int | None = None) -> Check:
    """A list of such elements. length: so many, where that is fixed."""

    def check(value: Any) -> None:
        if type(value) is not list or (length is not None and len(value) != length):
            raise Malformed("must be a list" if length is None else f"must be a list of {length} elements")
        for number, element in enumerate(value):
            _look(item, element, number)

    return check


def map_of(item: Check) -> Check:
    """A mapping of names to such values."""

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Malformed("must be a mapping")
        for key, element in value.items():
            _look(item, element, key)

    return check


def fields(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """A mapping with these fields; others are left alone."""
    known = optional or {}

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Malformed("must be a mapping")
        for field, item in (*required.items(), *((name, known[name]) for name in known if name in value)):
            if field not in value:
                raise Malformed("is missing").within(field)
            _look(item, value[field], field)

    return check


def either(words: str, *checks: Check) -> Check:
    """A value that one of the checks takes."""

    def check(value: Any) -> None:
        if not any(_takes(check, value) for check in checks):
            raise Malformed(f"must be {words}")

    return check


TEXT = of_type(str, "a string")
FLAG = of_type(bool, "true or false")
_NOTHING = of_type(type(None), "null")


def or_nothing(check: Check, words: str) -> Check:
    """Take null as well. words: all that is taken."""
    return either(words, check, _NOTHING)


def number(most: int, words: str = "a number from 0", least: int = 0) -> Check:
    """A whole number from *least* on, and below *most*."""

    def check(value: Any) -> None:
        if type(value) is not int or not least <= value < most:
            raise Malformed(f"must be {words}")

    return check


def row(*items: Check) -> Check:
    """A list that begins with such elements; more may follow."""

    def check(value: Any) -> None:
        if type(value) is not list or len(value) < len(items):
            raise Malformed(f"must be a list of {len(items)} elements")
        for position, item in enumerate(items):
            _look(item, value[position], position)

    return check


NUMBER = of_type(int, "a number")
TEXTS = list_of(TEXT)
OPTIONAL_TEXT = either("a string or null", TEXT, _NOTHING)


def _plain(depth: int) -> Check:
    """Data that a declaration file can hold: no numbers with a fraction, no empty values."""
    leaf = either("a string, a number, or true or false", TEXT, FLAG, NUMBER)
    if not depth:
        return leaf
    inner = map_of(_plain(depth - 1))
    return either("a string, a number, true or false, a list of strings, or a mapping of these", leaf, TEXTS, inner)


PLAIN = _plain(DEPTH)
FALLBACK = fields({"key": TEXT, "debug": TEXT, "fallthrough": FLAG})
KERNEL = fields(
    {"debug": TEXT, "signature": OPTIONAL_TEXT, "fallthrough": FLAG, "boxed": FLAG, "unboxed": FLAG},
    {"redispatches": PLAIN, "wraps": map_of(PLAIN), "fake": map_of(PLAIN)},
)
IMPORTED = fields({}, {"schema": FLAG, "kernels": map_of(NUMBER), "python": TEXTS})
_OPERATOR = fields(
    {
        "name": TEXT,
        "schema": OPTIONAL_TEXT,
        "debug": OPTIONAL_TEXT,
        "alias_analysis": OPTIONAL_TEXT,
        "kernels": map_of(list_of(KERNEL)),
        "tags": TEXTS,
        "python": map_of(TEXT),
        "imported": IMPORTED,
    },
    {"fake_tensor_mode": map_of(PLAIN)},
)
_DEFINED = fields({"debug": TEXT, "alias_analysis": TEXT})


def _operator(value: Any) -> None:
    _OPERATOR(value)
    if value["schema"] is not None:
        _DEFINED(value)


IMPL = either(
    "a string or a mapping with the string `kernel`",
    TEXT,
    fields({"kernel": TEXT}, {"deferred_error": FLAG, "error": map_of(TEXT)}),
)
OPTIONAL_IMPL = either("a string, a mapping with the string `kernel`, or null", IMPL, _NOTHING)
HIGHER_ORDER = fields(
    {
        "name": TEXT,
        **dict.fromkeys(("dispatch", "modes", "subclasses", "transforms"), map_of(IMPL)),
        "fallthrough": TEXTS,
        "autograd": OPTIONAL_IMPL,
        "functionalize": OPTIONAL_IMPL,
        "side_effect": FLAG,
    }
)
STATE = {
    "torch": TEXT,
    "git": TEXT,
    "build": TEXT,
    "modules": TEXTS,
    "known": FLAG,
    "notes": TEXTS,
    "operators": list_of(_operator),
    "higher_order_operators": list_of(HIGHER_ORDER),
    "imported_fallbacks": TEXTS,
    "imported_higher_order_operators": TEXTS,
    "modes": TEXTS,
    "skipped": list_of(fields({"name": TEXT, "line": TEXT})),
}
NEWER = {"replaced_fallbacks": list_of(FALLBACK), "conditions": map_of(FLAG)}
"""Fields that older recordings do not have."""
ANSWERS = {
    "texts": map_of(list_of(TEXT, 2)),
    "broken": map_of(TEXT),
    "resolve_rows": list_of(TEXTS),
    "resolved": map_of(NUMBER),
    "higher_order_answers": map_of(list_of(either("a number or a list of strings", NUMBER, TEXTS), 2)),
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
        fields({**STATE, **(ANSWERS if with_answers else {})}, NEWER)(data)
        _check_universe(data.get("universe"))
        for complaint in _contradictions(data, with_answers):
            raise Malformed(complaint)
    except (Malformed, universes.UniverseError) as error:
        raise AnswerError(f"gave an invalid answer: {error}") from None
    return data


def _check_universe(data: Any) -> None:
    """Errors: Malformed, UniverseError."""
    try:
        universes.from_data(data)
    except universes.UniverseError as error:
        raise universes.UniverseError(f"universe: {error}") from None
    # a capture writes all of its fields, also those that nobody knows yet
    fallbacks, others = data["fallbacks"], {field: value for field, value in data.items() if field != "fallbacks"}
    fields({"universe": fields({"fallbacks": list_of(FALLBACK)})})({"universe": {"fallbacks": fallbacks}})
    fields({"universe": map_of(PLAIN)})({"universe": others})


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
        asked = [*data["resolved"].values(), *(row for row, _ in data["higher_order_answers"].values())]
        if not all(type(row) is int and 0 <= row < len(rows) for row in asked):
            yield "resolved and higher_order_answers must name elements of resolve_rows"
        if not all(type(reached) is list for _, reached in data["higher_order_answers"].values()):
            yield "higher_order_answers must list keys"
