"""The rules by which a slot of a dispatch table is filled."""

from __future__ import annotations

from enum import Enum


class Rule(Enum):
    """Reason for the content of a slot.

    value: our short name. dump_text: what PyTorch's table dump prints in brackets.
    NOT_KNOWN: the state is incomplete, and what it lacks could fill the slot.
    """

    KERNEL = ("kernel", "kernel")
    DEFAULT = ("default", "default backend kernel")
    NESTED = ("nested", "nested kernel")
    AMBIGUOUS = ("ambiguous", "ambiguous autogradother")
    MATH = ("math", "math kernel")
    AUTOGRAD = ("autograd", "autograd kernel")
    BATCHED = ("batched", "batched kernel")
    FALLBACK = ("fallback", "backend fallback")
    MISSING = ("missing", "missing")
    NOT_KNOWN = ("not-known", "not known")

    dump_text: str

    def __new__(cls, value: str, dump_text: str) -> Rule:
        rule = object.__new__(cls)
        rule._value_ = value
        rule.dump_text = dump_text
        return rule
