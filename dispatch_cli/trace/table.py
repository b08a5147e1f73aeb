"""Registrations of an operator while a program ran, and the content of the slots of its live table then.

A recording has them for operators of which the registry at the program's end does not tell: what was registered then is
gone, or a slot is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dispatch_cli.capture.shape import FLAG, TEXT, fields, list_of, number, or_nothing, row


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


_NUMBER = number(1 << 32)
check = fields(
    {
        "at_end": FLAG,
        "kernels": list_of(row(TEXT, TEXT, FLAG, _NUMBER)),
        "slots": list_of(_NUMBER),
        "fallbacks": list_of(row(_NUMBER, or_nothing(TEXT, "a text or null"), FLAG)),
    }
)
"""Looks at a table as the recorder writes it. Errors: Malformed, with the field."""


def table_of(value: Mapping[str, Any]) -> TableThen:
    """A table that has been looked at."""
    return TableThen(
        value["at_end"],
        tuple(KernelThen(*kernel[:4]) for kernel in value["kernels"]),
        tuple(value["slots"]),
        {at: FallbackThen(debug, falls) for at, debug, falls, *_ in value["fallbacks"]},
    )
