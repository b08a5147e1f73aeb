"""Dispatch tables: the entries, and the canonical table that the registrations alone determine."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from dispatch_cli.engine.layout import Layout
from dispatch_cli.engine.registration import Registration
from dispatch_cli.engine.rules import Decision, Rule, decide
from dispatch_cli.model.declarations import Kernel

AMBIGUOUS_KERNEL = Kernel(debug="ambiguous_autogradother", function="ambiguous_autogradother")
"""What PyTorch puts at AutogradOther when it can not choose; calling it is an error."""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One slot's answer.

    key: the runtime key, or Undefined. decision: rule, number, and the key the kernel is registered at.
    registration: the registration behind it; None when the slot is missing or ambiguous.
    """

    key: str
    decision: Decision
    registration: Registration | None

    @property
    def rule(self) -> Rule:
        """Why the slot holds what it holds."""
        return self.decision.rule

    @property
    def kernel(self) -> Kernel | None:
        """The kernel a call would run; None when the slot is missing."""
        if self.registration is not None:
            return self.registration.kernel
        return AMBIGUOUS_KERNEL if self.rule is Rule.AMBIGUOUS else None

    @property
    def is_fallthrough(self) -> bool:
        """Whether dispatch skips this key."""
        return self.registration is not None and self.registration.kernel.fallthrough

    @property
    def function(self) -> Hashable:
        """Identity of the function in the slot, as PyTorch compares kernels."""
        return self.rule if self.registration is None else self.registration.function


@lru_cache(maxsize=8192)
def plan(layout: Layout, registered: int, fallbacks: int) -> tuple[Decision, ...]:
    """The decision for every slot, shared by all operators with the same pattern.

    registered: bits of the keys with a kernel. fallbacks: bit *i* is set when slot *i* has a backend fallback.
    """
    return tuple(
        decide(candidates, registered, bool(fallbacks >> slot & 1)) for slot, candidates in enumerate(layout.candidates)
    )


class Table(Mapping[str, TableEntry]):
    """An operator's canonical table: runtime key (Undefined first) → entry."""

    __slots__ = ("_active", "_fallbacks", "_slot", "_slots", "decisions")

    def __init__(
        self,
        layout: Layout,
        decisions: tuple[Decision, ...],
        active: Mapping[str, Registration],
        fallbacks: Mapping[str, Registration],
    ) -> None:
        self.decisions = decisions
        self._slots = layout.universe.slots
        self._slot = layout.universe.slot
        self._active = active
        self._fallbacks = fallbacks

    def __getitem__(self, key: str) -> TableEntry:
        return entry_for(key, self.decisions[self._slot[key]], self._active, self._fallbacks)

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __len__(self) -> int:
        return len(self._slots)


def entry_for(
    key: str, decision: Decision, active: Mapping[str, Registration], fallbacks: Mapping[str, Registration]
) -> TableEntry:
    """Put the kernel to a decision. active: the active registration per key; fallbacks: per runtime key."""
    if decision.source is not None:
        return TableEntry(key, decision, active[decision.source])
    return TableEntry(key, decision, fallbacks[key] if decision.rule is Rule.FALLBACK else None)
