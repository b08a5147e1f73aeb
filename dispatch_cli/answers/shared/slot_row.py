"""One slot of a dispatch table, and kernels of the Python dispatcher, as answers show them."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.origin import OWN, Origin
from dispatch_cli.model.span import Span


class Before(NamedTuple):
    """Content of a slot in the state that the files are laid over."""

    rule: Rule
    kernel: str | None
    fallthrough: bool


class Otherwise(NamedTuple):
    """Content of a slot that is not known, if there is no kernel but those that are known."""

    rule: Rule
    rule_number: int
    kernel: str | None
    fallthrough: bool
    source: str | None
    span: Span | None


class TableRow(NamedTuple):
    """One slot.

    key: runtime key or Undefined. rule, rule_number: what decided. kernel: its name or dump text, or None.
    source: the key the kernel is registered at, an alias perhaps; None for ambiguous, fallback and missing slots, and
    for those that are not known.
    blockers: the keys whose kernels made the slot ambiguous, or took it away from the math kernel; of one that is not
    known, the incomplete keys on which it depends.
    core_fallback: the kernel is one of PyTorch's own backend fallbacks.
    stale: PyTorch's live table holds something else. live_kernel: what it holds; None when it holds nothing.
    before: what the slot held in the base, where the files have changed it.
    origin: through what the kernel came, beyond its place. when: the conditions of its registration; None for none.
    otherwise: of a slot that is not known, what it holds without kernels that are not known.
    """

    key: str
    rule: Rule
    rule_number: int
    kernel: str | None
    fallthrough: bool
    source: str | None
    blockers: tuple[str, ...]
    core_fallback: bool
    span: Span | None
    stale: bool = False
    live_kernel: str | None = None
    before: Before | None = None
    origin: Origin = OWN
    when: str | None = None
    otherwise: Otherwise | None = None


class PythonKernelRow(NamedTuple):
    """A kernel of the Python dispatcher."""

    key: str
    kernel: str
    span: Span | None
    when: str | None = None
