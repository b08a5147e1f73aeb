"""Registrations of an operator while a program ran, and the content of the slots of its live table then.

A recording has them for operators of which the registry at the program's end does not tell: what was registered then is
gone, or a slot is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

MAX_KERNELS = 10_000
MAX_SLOTS = 1000


class KernelThen(NamedTuple):
    """A kernel that was registered. debug: the text of a dump. number: two of the same number are one kernel."""

    key: str
    debug: str
    fallthrough: bool
    number: int


class FallbackThen(NamedTuple):
    """The backend fallback that a slot held. debug: None where another kernel should have been in the slot."""

    debug: str | None
    fallthrough: bool


class TableThen(NamedTuple):
    """Registrations and slots of an operator.

    at_end: it is still so at the program's end. kernels: the newest of a key first. slots: the number of the kernel in
    each slot, in the order of the universe; 0 where there was none. fallbacks: by the position of the slot.
    """

    at_end: bool
    kernels: tuple[KernelThen, ...]
    slots: tuple[int, ...]
    fallbacks: Mapping[int, FallbackThen]


def table_of(value: Any) -> TableThen:
    """A table as the recorder writes it. Errors: ValueError."""
    if type(value) is not dict:
        raise ValueError("a table is an object")
    kernels, slots, fallbacks = (_list(value, name, most) for name, most in _LISTS.items())
    if not all(_is_number(slot) for slot in slots):
        raise ValueError("a slot has the number of a kernel")
    if type(value.get("at_end")) is not bool:
        raise ValueError("at_end is true or false")
    return TableThen(
        value["at_end"],
        tuple(KernelThen(*_checked(kernel, _KERNEL)) for kernel in kernels),
        tuple(slots),
        {at: FallbackThen(debug, falls) for at, debug, falls in (_checked(item, _FALLBACK) for item in fallbacks)},
    )


_LISTS = {"kernels": MAX_KERNELS, "slots": MAX_SLOTS, "fallbacks": MAX_SLOTS}
_KERNEL = ((str,), (str,), (bool,), (int,))
_FALLBACK = ((int,), (str, type(None)), (bool,))


def _list(value: dict[str, Any], name: str, most: int) -> list[Any]:
    elements = value.get(name)
    if type(elements) is not list or len(elements) > most:
        raise ValueError(f"{name} is a list of at most {most}")
    return elements


def _checked(value: Any, kinds: tuple[tuple[type, ...], ...]) -> list[Any]:
    if type(value) is not list or len(value) != len(kinds):
        raise ValueError(f"an element has {len(kinds)} parts")
    for part, kind in zip(value, kinds, strict=True):
        if type(part) not in kind or (type(part) is int and not _is_number(part)):
            raise ValueError("an element has a part of the wrong kind")
    return value


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_KERNELS + MAX_SLOTS
