"""Calls of a recording in columns, and the form of a signature.

A million of them take 50 MB. Everything in a signature comes from a file.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

from dispatch_cli.capture.answer import FLAG, TEXT, Malformed, fields, list_of, number, of_type, or_nothing
from dispatch_cli.model.calls.call import MAX_WRAPPERS, Absent, ContextKind, WrapperKind

NONE = -1
"""Value of a column of numbers for none."""
RETURNED, RAISED, NOT_KNOWN = 0, 1, 2
"""End of a call as recorded; that of an open call is not known."""
GENERATOR = "generator"
MAX_LEVEL = 999
RAW = number(1 << 64, "a raw key set: a number of 64 bits")
_LEVEL = or_nothing(number(MAX_LEVEL + 1, least=-1), f"the level of a transform, at most {MAX_LEVEL}")
_NUMBER = or_nothing(number(1000), "a number from 0 to 999, or null")
_ALONE = (Absent.UNDEFINED.value, Absent.NONE.value, GENERATOR)
_WRAPPERS = tuple(kind.value for kind in WrapperKind)
_LAYERS = (
    "torch",
    *(kind.value for kind in (ContextKind.VMAP, ContextKind.GRAD, ContextKind.JVP, ContextKind.FUNCTIONALIZE)),
)


class RecordedCalls:
    """Every call by its number, which is its position in the recording.

    signature, thread, place, forward_thread: numbers in the tables of the recording. parent: the call that made it.
    start, end: microseconds since the recording began. sequence: autograd's number.
    raised: RETURNED, RAISED or NOT_KNOWN. Where there is none of something, `NONE`.
    """

    def __init__(self) -> None:
        self.signature, self.thread, self.place, self.parent = (array("i") for _ in range(4))
        self.start, self.end, self.sequence = (array("q") for _ in range(3))
        self.forward_thread = array("i")
        self.raised = array("b")

    def __len__(self) -> int:
        return len(self.signature)

    def begin(
        self, signature: int, thread: int, place: int, start: int, sequence: int, forward: int, parent: int
    ) -> None:
        """Add a call."""
        self.signature.append(signature)
        self.thread.append(thread)
        self.place.append(place)
        self.start.append(start)
        self.sequence.append(sequence)
        self.forward_thread.append(forward)
        self.parent.append(parent)
        self.end.append(NONE)
        self.raised.append(NOT_KNOWN)

    def microseconds(self, call: int) -> int | None:
        """Time that a call took; None where its end is not recorded."""
        end = self.end[call]
        return None if end == NONE else max(0, end - self.start[call])


def _tensor(value: Any) -> None:
    """``[RAW]``, ``[RAW, "undefined"]``, or ``[RAW, "batched", LEVEL, TENSOR]``."""
    for _ in range(MAX_WRAPPERS + 1):
        if type(value) is not list or len(value) not in (1, 2, 4):
            raise Malformed("must be a tensor: a list of a raw key set and what it is")
        RAW(value[0])
        if len(value) == 1 or (len(value) == 2 and value[1] in _ALONE):
            return
        if len(value) != 4 or value[1] not in _WRAPPERS:
            raise Malformed("must be a tensor: what it is, is not known")
        _LEVEL(value[2])
        value = value[3]
    raise Malformed(f"has more than {MAX_WRAPPERS} wrappers")


def _layer(value: Any) -> None:
    if type(value) is not list or len(value) != 3 or value[0] not in _LAYERS:
        raise Malformed("must be a transform, its level and its keys")
    _LEVEL(value[1])
    if value[2] is not None:
        list_of(RAW, 2)(value[2])


def _layers(value: Any) -> None:
    list_of(_layer)(value)
    if len(value) > MAX_WRAPPERS:
        raise Malformed(f"has more than {MAX_WRAPPERS} transforms")


check_signature = fields(
    {"operator": of_type(int, "the number of an operator"), "tensors": list_of(_tensor), "keys": list_of(RAW, 2)},
    {
        "inference": FLAG,
        "modes": list_of(TEXT),
        "python_dispatcher": FLAG,
        "layers": _layers,
        "device": or_nothing(TEXT, "a device or null"),
        "layout": _NUMBER,
        "dtype": _NUMBER,
        "grad_mode": FLAG,
        "requires_grad": list_of(or_nothing(FLAG, "true, false or null")),
        "devices": list_of(or_nothing(TEXT, "a device or null")),
        "subclasses": list_of(or_nothing(TEXT, "a name or null")),
    },
)
"""Looks at a signature. Errors: Malformed, with the field."""


class OtherSlots(NamedTuple):
    """Slots of an operator that held something else, when it was called, than is determined at the program's end.

    at_end: they still do: they are stale.
    """

    at_end: bool
    keys: frozenset[str]
