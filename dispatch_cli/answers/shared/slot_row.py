"""One slot as answers show it, whichever resolver decides it, and kernels of the Python dispatcher."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import OWN, Origin, Span

if TYPE_CHECKING:
    from dispatch_cli.answers.shared.divergences import PythonDifference
    from dispatch_cli.engine.python.higher_order import Slot


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


class SlotRow(NamedTuple):
    """One slot, as one of the three resolvers decides it.

    key: runtime key or Undefined. rule, rule_number: what decided. kernel: its name or dump text, or None.
    source: the key the kernel is registered at, an alias perhaps; None for ambiguous, fallback and missing slots, and
    for those that are not known.
    core_fallback: the kernel is one of PyTorch's own backend fallbacks.

    Of the C++ table alone:
    blockers: the keys whose kernels made the slot ambiguous, or took it away from the math kernel; of one that is not
    known, the incomplete keys on which it depends.
    stale: PyTorch's live table holds something else. live_kernel: what it holds; None when it holds nothing.
    before: what the slot held in the base, where the files have changed it.
    origin: through what the kernel came, beyond its place. when: the conditions of its registration; None for none.
    otherwise: of a slot that is not known, what it holds without kernels that are not known.

    Of ``resolve_key``: error: what PyTorch raises, where it does.
    chosen_key: the key whose kernel runs, in the words of ``resolve_key``; None where it raises an error, and where it
    is not known. python: it is a Python kernel. differs: how the C++ table decides, where it chooses another key.
    slot: what a call of a higher-order operator finds there.
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
    error: str | None = None
    chosen_key: str | None = None
    python: bool = False
    differs: PythonDifference | None = None
    slot: Slot | None = None


class TableRow(SlotRow):
    """A slot of a C++ table."""

    __slots__ = ()


class PythonRow(SlotRow):
    """A slot as Python's ``resolve_key`` decides it for an operator that has a C++ table."""

    __slots__ = ()


class HigherOrderRow(SlotRow):
    """A slot of a higher-order operator."""

    __slots__ = ()
    slot: Slot


def answer_of(row: SlotRow) -> Hashable:
    """Values that must be equal for two rows to be one. PyTorch's own autograd fallbacks differ in their line alone."""
    live = row.stale, row.live_kernel if row.stale else None
    if row.core_fallback:
        return (row.rule, row.fallthrough, bool(row.blockers), live, row.before)
    source = None if row.rule is Rule.KERNEL else row.source
    return (
        row.rule,
        row.rule_number,
        row.kernel,
        row.fallthrough,
        source,
        row.blockers,
        row.span,
        row.when,
        live,
        row.before,
        row.otherwise,
        row.slot,
        row.error,
    )


class PythonKernelRow(NamedTuple):
    """A kernel of the Python dispatcher."""

    key: str
    kernel: str
    span: Span | None
    when: str | None = None
