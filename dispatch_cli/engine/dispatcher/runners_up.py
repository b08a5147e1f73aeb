"""The kernel in a slot, and the kernels that would follow it if it were not there.

Every answer comes from `rules.decide`; this only asks it again.
"""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule, RuleStep, choose, decide
from dispatch_cli.engine.table.table import TableEntry, entry_for
from dispatch_cli.model.names import OperatorName


class SlotAnswer(NamedTuple):
    """One slot's entry, and every rule that was looked at on the way to it."""

    entry: TableEntry
    steps: tuple[RuleStep, ...]


def runners_up(dispatcher: Dispatcher, name: OperatorName, key: str) -> tuple[SlotAnswer, ...]:
    """The answer at a slot of the canonical table, then the answer without the kernels that gave it, and so on.

    For a slot that is ambiguous the next answer is the one without the composite kernel; for one that is not known, the
    one without kernels that are not known. The last answer is a backend fallback or nothing.
    Errors: Refused for an unknown operator, and for a key without a slot.
    """
    answers = [SlotAnswer(*dispatcher.explain(name, key))]
    operator, layout = dispatcher.operator(name), dispatcher.layout
    candidates = layout.candidates[layout.universe.slot[key]]
    active, registered = operator.active_kernels(), operator.registered
    while answers[-1].entry.rule not in (Rule.FALLBACK, Rule.MISSING):
        if answers[-1].entry.rule is not Rule.NOT_KNOWN:
            registered &= ~layout.registered_bit[answers[-1].steps[-1].key]
        steps: list[RuleStep] = []
        decision = choose(candidates, registered, key in dispatcher.fallbacks, steps)
        answers.append(SlotAnswer(entry_for(key, decision, active, dispatcher.fallbacks), tuple(steps)))
    return tuple(answers)


def would_fill(dispatcher: Dispatcher, name: OperatorName, source: str, key: str) -> bool:
    """True if a kernel at *source* would fill the slot of *key*. Errors: Refused for an unknown operator."""
    layout = dispatcher.layout
    registered = dispatcher.operator(name).registered | layout.registered_bit.get(source, 0)
    candidates = layout.candidates[layout.universe.slot[key]]
    return decide(candidates, registered, key in dispatcher.fallbacks).source == source


def filled_by(dispatcher: Dispatcher, name: OperatorName, alias: str) -> tuple[str, ...]:
    """The slots that a kernel at *alias* fills, or would fill if there were one; in table order.

    Errors: Refused for an unknown operator.
    """
    return tuple(key for key in dispatcher.universe.slots if would_fill(dispatcher, name, alias, key))
