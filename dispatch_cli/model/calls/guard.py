"""Guards: declared conditions on computed tables."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.span import Span


class GuardField(Enum):
    """Question of a guard about a slot; the value is the field of the declaration.

    RULE, NOT: the rule that fills the slot is, or is not, one of the texts.
    KERNEL, NOT_KERNEL: what a dump shows of the kernel, or the Python function that it was made of, matches one, or
        none, of the globs.
    FALLTHROUGH: whether the kernel falls through (``true``, ``false``).
    SAME_AS: the slot holds the function of another.
    """

    RULE = "rule"
    NOT = "not"
    KERNEL = "kernel"
    NOT_KERNEL = "not_kernel"
    FALLTHROUGH = "fallthrough"
    SAME_AS = "same_as"


class Expectation(NamedTuple):
    """One thing that a guard asks for. texts: any of them will do (for NOT and NOT_KERNEL: none may be)."""

    field: GuardField
    texts: tuple[str, ...]


class Guard(NamedTuple):
    """Expectations that must hold for every operator that matches.

    ops: globs over operator names. keys: runtime keys, globs over them, and alias keys, which stand for all that they
    cover. wants: all of them must hold. reason: why it must hold.
    span: where it is declared. through: the entries of ``extends`` that led there, the user's own file first.
    excepted: names, globs and alias keys of slots that are left out of *keys*.
    """

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    wants: tuple[Expectation, ...]
    reason: str | None = None
    span: Span | None = None
    through: tuple[Span, ...] = ()
    excepted: tuple[str, ...] = ()
