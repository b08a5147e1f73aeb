"""Operators with kernels at the same keys, about which a check decides once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import Plan
from dispatch_cli.model.names import OperatorName


class Pattern(NamedTuple):
    """Operators that the dispatcher cannot tell apart.

    keys: where they have a kernel, in the order of the enum. fallthrough: those whose active kernel falls through.
    registered: the same keys as bits (`Layout.registered_bit`). plan: the decision of every slot.
    operators: those of the view with this pattern, by name; none when only `View.pattern` led here.
    """

    keys: tuple[str, ...]
    fallthrough: frozenset[str]
    registered: int
    plan: Plan
    operators: tuple[OperatorName, ...]
    slot: Mapping[str, int]

    def has(self, key: str) -> bool:
        """True if a kernel is registered at exactly *key*."""
        return key in self.keys

    def decision(self, key: str) -> Decision:
        """Decision on what fills the slot of a runtime key or Undefined, and why."""
        return self.plan.decisions[self.slot[key]]

    def rule(self, key: str) -> Rule:
        """The rule that fills the slot of a runtime key or Undefined."""
        return self.plan.decisions[self.slot[key]].rule

    def falls_through(self, key: str, fallbacks: Mapping[str, Registration]) -> bool:
        """True if dispatch skips the slot. fallbacks: the backend fallbacks in effect."""
        decision = self.decision(key)
        if decision.source is not None:
            return decision.source in self.fallthrough
        return decision.rule is Rule.FALLBACK and fallbacks[key].kernel.fallthrough
