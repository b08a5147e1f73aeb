"""Words for implementations and slots of higher-order operators."""

from __future__ import annotations

from dispatch_cli.answers.table.higher_order.report import ImplRow
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.model.higher_order import ImplKind

_KINDS = {
    ImplKind.DISPATCH: "dispatch key",
    ImplKind.AUTOGRAD: "autograd",
    ImplKind.FUNCTIONALIZE: "functionalization",
    ImplKind.MODE: "mode",
    ImplKind.SUBCLASS: "subclass",
    ImplKind.TRANSFORM: "transform",
}
_SLOTS = {
    Slot.IMPL: "",
    Slot.MODES: "the innermost mode, then the subclasses",
    Slot.TRANSFORMS: "the innermost functorch transform",
    Slot.FALLTHROUGH: "falls through",
    Slot.NO_IMPL: "error: only a backend fallback, which higher-order operators do not use",
    Slot.MISSING: "error: no implementation",
    Slot.AMBIGUOUS: "error: ambiguous",
}


def kind_label(kind: ImplKind) -> str:
    """Words for the kind of an implementation."""
    return _KINDS[kind]


def slot_label(slot: Slot) -> str:
    """Words for the result of a call at a slot; nothing where an implementation runs."""
    return _SLOTS[slot]


def impl_label(row: ImplRow) -> str:
    """Name of the place that an implementation is registered for."""
    return row.name or ", ".join(dict.fromkeys(row.registered_at))


def facts_of(impl: ImplRow) -> str:
    """Words for the declared facts about the calls that an implementation makes."""
    words = []
    if impl.returns_not_implemented:
        words.append("returns NotImplemented")
    if isinstance(impl.redispatches, bool):
        words.append("redispatches" if impl.redispatches else "does not redispatch")
    if impl.redispatches == "raises":
        words.append("raises")
    elif impl.errors:
        words.append(f"raises at {', '.join(impl.errors)}")
    if impl.deferred_error is not None:
        words.append("error in the backward pass" if impl.deferred_error else "error at once")
    return ", ".join(words)


def flags_of(impl: ImplRow) -> tuple[str, ...]:
    """Declared facts about an implementation, as flags of a sheet."""
    flags = {
        "fallthrough": impl.fallthrough,
        "redispatches": impl.redispatches is True,
        "raises": impl.redispatches == "raises" or impl.errors,
        "not_implemented": impl.returns_not_implemented,
        "deferred_error": impl.deferred_error,
    }
    return tuple(flag for flag, is_set in flags.items() if is_set)
