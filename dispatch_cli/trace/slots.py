"""Slots of an operator as they were in its calls, where the registrations at the program's end determine others."""

from __future__ import annotations

from collections.abc import Mapping

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import FALLBACK_NUMBER, MISSING, Decision, Rule, decide
from dispatch_cli.engine.table.live import KernelChange
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace.recording import OtherSlot


def hold(dispatcher: Dispatcher, name: OperatorName, slots: Mapping[str, OtherSlot]) -> None:
    """Have the slots of an operator hold what they held; nothing where there is no such operator."""
    if name not in dispatcher:
        return
    dispatcher.settle(name)
    entries: dict[str, tuple[TableEntry, KernelChange | None]] = {}
    for slot, other in slots.items():
        if slot in dispatcher.universe.slot:
            entry = _entry(dispatcher, name, slot, other)
            entries[slot] = entry, _missed(dispatcher, name, entry) if other.at_end else None
    dispatcher.operator(name).live.observe(entries)


def _entry(dispatcher: Dispatcher, name: OperatorName, slot: str, other: OtherSlot) -> TableEntry:
    """Content of a slot. At the end, what is not registered is not known."""
    if other.held is None:
        return TableEntry(slot, MISSING, None)
    candidates = dispatcher.layout.candidates[dispatcher.universe.slot[slot]]
    decisions: dict[str | None, Decision] = {
        each.key: Decision(each.rule, each.number, each.key) for each in candidates if each.covers
    }
    decisions[None] = Decision(Rule.FALLBACK, FALLBACK_NUMBER)
    registrations = {key: (debug, falls) for key, debug, falls, *_ in reversed(other.held)}
    fallback = dispatcher.fallbacks.get(slot)
    for key, decision in decisions.items():
        if key not in registrations:
            continue
        debug, falls = registrations[key]
        now = [fallback] if key is None else dispatcher.operator(name).kernels.get(key, [])
        known = next((each for each in now if each is not None and each.kernel.debug == debug), None)
        if known is None and not other.at_end:
            kernel = Kernel(debug=debug, fallthrough=falls)
            known = Registration(None, slot, kernel) if key is None else Registration(name, key, kernel)
        if known is not None:
            return TableEntry(slot, decision, known)
    return TableEntry(slot, Decision(Rule.NOT_KNOWN, MISSING.number, otherwise=MISSING), None)


def _missed(dispatcher: Dispatcher, name: OperatorName, live: TableEntry) -> KernelChange | None:
    """The registration after which a slot was not computed anew: without it, it would hold what it holds."""
    layout, operator = dispatcher.layout, dispatcher.operator(name)
    candidates = layout.candidates[dispatcher.universe.slot[live.key]]
    cause = dispatcher.table(name)[live.key].registration or live.registration
    for registration in operator.active_kernels().values():
        others = operator.registered & ~layout.registered_bit[registration.key]
        without = decide(candidates, others, live.key in dispatcher.fallbacks)
        if (without.rule, without.source) == (live.rule, live.decision.source):
            cause = registration
            break
    if cause is None or live.rule is Rule.NOT_KNOWN:
        return None
    return KernelChange(cause.key, cause, cause, came=True, full=False, fallback=False, time=0)
