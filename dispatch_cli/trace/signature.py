"""Form of the signature of a recorded call: everything in it comes from a file."""

from __future__ import annotations

from typing import Any

from dispatch_cli.capture.shape import Check, Malformed, either, fields, list_of, of_type
from dispatch_cli.model.call import MAX_WRAPPERS, Absent, ContextKind, WrapperKind

GENERATOR = "generator"
MAX_LEVEL = 999
_MAX_RAW = 1 << 64
_ALONE = (Absent.UNDEFINED.value, Absent.NONE.value, GENERATOR)
_WRAPPERS = tuple(kind.value for kind in WrapperKind)
_LAYERS = (
    "torch",
    *(kind.value for kind in (ContextKind.VMAP, ContextKind.GRAD, ContextKind.JVP, ContextKind.FUNCTIONALIZE)),
)


def _raw(value: Any) -> None:
    if type(value) is not int or not 0 <= value < _MAX_RAW:
        raise Malformed("must be a raw key set: a number of 64 bits")


def _level(value: Any) -> None:
    if value is not None and (type(value) is not int or not -1 <= value <= MAX_LEVEL):
        raise Malformed(f"must be the level of a transform, at most {MAX_LEVEL}")


def _tensor(value: Any) -> None:
    """``[RAW]``, ``[RAW, "undefined"]``, or ``[RAW, "batched", LEVEL, TENSOR]``."""
    for _ in range(MAX_WRAPPERS + 1):
        if type(value) is not list or len(value) not in (1, 2, 4):
            raise Malformed("must be a tensor: a list of a raw key set and what it is")
        _raw(value[0])
        if len(value) == 1 or (len(value) == 2 and value[1] in _ALONE):
            return
        if len(value) != 4 or value[1] not in _WRAPPERS:
            raise Malformed("must be a tensor: what it is, is not known")
        _level(value[2])
        value = value[3]
    raise Malformed(f"has more than {MAX_WRAPPERS} wrappers")


def _layer(value: Any) -> None:
    if type(value) is not list or len(value) != 3 or value[0] not in _LAYERS:
        raise Malformed("must be a transform, its level and its keys")
    _level(value[1])
    if value[2] is not None:
        list_of(_raw, 2)(value[2])


def _layers(value: Any) -> None:
    list_of(_layer)(value)
    if len(value) > MAX_WRAPPERS:
        raise Malformed(f"has more than {MAX_WRAPPERS} transforms")


def _number(value: Any) -> None:
    if type(value) is not int or not 0 <= value < 1000:
        raise Malformed("must be a number from 0 to 999")


_TEXT = of_type(str, "a string")
_FLAG = of_type(bool, "true or false")
_NOTHING = of_type(type(None), "null")


def _or_nothing(check: Check, words: str) -> Check:
    return either(words, check, _NOTHING)


check = fields(
    {"operator": of_type(int, "the number of an operator"), "tensors": list_of(_tensor), "keys": list_of(_raw, 2)},
    {
        "inference": _FLAG,
        "modes": list_of(_TEXT),
        "python_dispatcher": _FLAG,
        "layers": _layers,
        "device": _or_nothing(_TEXT, "a device or null"),
        "layout": _or_nothing(_number, "a number or null"),
        "dtype": _or_nothing(_number, "a number or null"),
        "grad_mode": _FLAG,
        "requires_grad": list_of(_or_nothing(_FLAG, "true, false or null")),
        "devices": list_of(_or_nothing(_TEXT, "a device or null")),
        "subclasses": list_of(_or_nothing(_TEXT, "a name or null")),
    },
)
"""Looks at a signature. Errors: Malformed, with the field."""
