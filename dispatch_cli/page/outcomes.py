"""Content of operators' slots, and its rules: once for all operators with kernels at the same keys.

Every answer is the engine's; the page decides nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dispatch_cli.answers.explain.rule_steps import RuleLine, SlotAnswer, concerned_keys, rule_lines, runners_up
from dispatch_cli.answers.explain.wording import rule_label, state_label
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Decision
from dispatch_cli.engine.table.table import plan
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.pool import Pool, Pools
from dispatch_cli.render.data import data_of

OWN = -1
"""Stands for the slot's own key."""
NO_KEY = -2


class Outcomes:
    """The plans of a dispatcher's operators.

    decisions: rule, number, source, blockers, and the decision without kernels that are not known, or None.
    lines: the rules of a slot. reasons: lines, the registrations concerned, and the decision that comes next, or -1.
    plans: for each slot a decision and a reason.
    """

    def __init__(self, dispatcher: Dispatcher, pools: Pools) -> None:
        self.dispatcher = dispatcher
        self._key = pools.key
        self.decisions, self.lines, self.reasons, self.plans = Pool(), Pool(), Pool(), Pool()
        self._slots = [_SlotRules(dispatcher, slot) for slot in range(len(dispatcher.universe.slots))]
        self._numbers: dict[Hashable, int] = {}

    def plan_of(self, name: OperatorName) -> int:
        """The number of an operator's plan."""
        registered, _ = self.dispatcher.shape(name)
        return self.plans.build(registered, lambda bits: self._plan(bits, name))

    def _plan(self, registered: int, name: OperatorName) -> list[int]:
        """A decision and a reason for each slot. name: an operator with these kernels."""
        dispatcher = self.dispatcher
        decisions = plan(dispatcher.layout, registered, dispatcher.fallback_bits).decisions
        numbers = []
        for slot, decision in zip(self._slots, decisions, strict=True):
            situation = slot.situation(registered)
            reason = self._numbers.get(situation)
            if reason is None:
                reason = self._numbers[situation] = self._reason(name, slot.key)
            numbers += [self.decision(decision, slot.key), reason]
        return numbers

    def decision(self, decision: Decision, key: str) -> int:
        """The number of a decision about the slot of *key*."""
        return self.decisions.build((decision, decision.source == key), lambda _: self._decision(decision, key))

    def _decision(self, decision: Decision, key: str) -> list[Any]:
        own = [] if decision.otherwise is None else [self._decision(decision.otherwise, key)]
        blockers = [self._key[key] for key in self.dispatcher.keys_in(decision.blockers)]
        source = NO_KEY if decision.source is None else self._place(decision.source, key)
        return [decision.rule.value, decision.number, source, blockers, *own]

    def _place(self, source: str, key: str) -> int:
        return OWN if source == key else self._key[source]

    def _reason(self, name: OperatorName, key: str) -> int:
        dispatcher = self.dispatcher
        answers = runners_up(dispatcher, name, key)
        lines = tuple(self.lines.build(*_own(line, key)) for line in rule_lines(dispatcher, name, key, answers))
        return self.reasons.add((lines, self._concerned(name, key, answers), self._next(answers, key)))

    def _concerned(self, name: OperatorName, key: str, answers: tuple[SlotAnswer, ...]) -> Hashable:
        """The number of the rule, the role, the key (`NO_KEY` for the backend fallback), whether overridden too."""
        return tuple(
            (
                registration.rule_number,
                registration.role.value,
                NO_KEY if registration.key is None else self._place(registration.key, key),
                int(registration.and_overridden),
            )
            for registration in concerned_keys(self.dispatcher, name, answers)
        )

    def _next(self, answers: tuple[SlotAnswer, ...], key: str) -> int:
        return self.decision(answers[1].entry.decision, key) if answers[1:] else -1


def _own(line: RuleLine, key: str) -> tuple[tuple[RuleLine, str], Any]:
    """Line as a key of a pool, and the function that makes it data. The slot's own key is left open in it."""
    text = state_label(line)
    if line.looks_at == (key,):
        line = line._replace(looks_at=("",))
        if line.blockers == (key,):
            line = line._replace(blockers=("",))
    return (line, text), _line


def _line(pair: tuple[RuleLine, str]) -> Any:
    line, text = pair
    return data_of(line) | {"name": rule_label(line, False), "text": text}


class _SlotRules:
    """A slot, and the kernels of an operator that its rules depend on."""

    def __init__(self, dispatcher: Dispatcher, slot: int) -> None:
        layout = dispatcher.layout
        self.key = key = layout.universe.slots[slot]
        own, *others = layout.candidates[slot]
        self._own_bit = own.bit
        self._bits = own.closed
        for other in others:
            self._bits |= other.bits | other.closed
        self._always: Hashable = (
            *(tuple(others), bool(own.bit), key in dispatcher.fallbacks, key in layout.incomplete),
            *(layout.universe.autograd_backends.get(key, ()), key if self._bits & own.bit else None),
        )

    def situation(self, registered: int) -> Hashable:
        """Value that is equal for slots whose rules end in the same way, but for the slot's own key."""
        return self._always, registered & self._bits, bool(registered & self._own_bit)
