"""How rules and slots of higher-order operators are put into words."""

from __future__ import annotations

from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.report.higher_order import RuleRow

_KINDS = {
    ImplKind.DISPATCH: "dispatch key",
    ImplKind.AUTOGRAD: "autograd",
    ImplKind.FUNCTIONALIZE: "functionalization",
    ImplKind.MODE: "mode",
    ImplKind.SUBCLASS: "subclass",
    ImplKind.TRANSFORM: "transform",
}
_SLOTS = {
    Slot.RULE: "",
    Slot.MODES: "the innermost mode, then the subclasses",
    Slot.TRANSFORMS: "the innermost functorch transform",
    Slot.FALLTHROUGH: "falls through",
    Slot.NO_RULE: "error: only a backend fallback, which higher-order operators do not use",
    Slot.MISSING: "error: no rule",
    Slot.AMBIGUOUS: "error: ambiguous",
}


def kind_label(kind: ImplKind) -> str:
    """What a rule is for."""
    return _KINDS[kind]


def slot_label(slot: Slot) -> str:
    """What a call finds at a slot; nothing where a rule runs."""
    return _SLOTS[slot]


def rule_label(row: RuleRow) -> str:
    """What a rule is registered for, by name."""
    return row.name or ", ".join(dict.fromkeys(row.registered_at))


def facts_of(rule: RuleRow) -> str:
    """What is declared about how a call goes on after a rule."""
    words = []
    if rule.returns_not_implemented:
        words.append("returns NotImplemented")
    if isinstance(rule.redispatches, bool):
        words.append("redispatches" if rule.redispatches else "does not redispatch")
    if rule.redispatches == "raises":
        words.append("raises")
    elif rule.errors:
        words.append(f"raises at {', '.join(rule.errors)}")
    if rule.deferred_error is not None:
        words.append("error in the backward pass" if rule.deferred_error else "error at once")
    return ", ".join(words)


def flags_of(rule: RuleRow) -> tuple[str, ...]:
    """What is declared about a rule, as flags of a sheet."""
    flags = {
        "fallthrough": rule.fallthrough,
        "redispatches": rule.redispatches is True,
        "raises": rule.redispatches == "raises" or rule.errors,
        "not_implemented": rule.returns_not_implemented,
        "deferred_error": rule.deferred_error,
    }
    return tuple(flag for flag, is_set in flags.items() if is_set)
