"""Checks for the shape of data from outside: small ones that are put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], None]
"""Looks at a value. Errors: Malformed."""
MAX_STEP = 80
"""Characters of a name that the place in a message has."""


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
