"""Content of operators' slots, and its rules: once for all operators with kernels at the same keys.

Every answer is the engine's, and every text is that of `explain`; the page decides nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from dispatch_cli.answers.explain.document import ROLE_TONES, RULES
from dispatch_cli.answers.explain.rule_steps import Role, RuleLine, SlotAnswer, concerned_keys, rule_lines, runners_up
from dispatch_cli.answers.explain.wording import ROLES
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import AMBIGUOUS_KERNEL, plan
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.document import Run

OWN, NO_KEY, FALLBACK = -1, -2, -3
"""In the place of a key: the slot's own, none, and the backend fallback of the slot."""


class Outcomes:
    """Decisions and reasons for the slots of a dispatcher's operators.

    decisions: rule, number, source, the kernel where it is none that is registered, and perhaps the decision without
    kernels that are not known. lines: the rules of a slot, as cells. reasons: lines, the registrations concerned, and
    the decision that comes next, or -1.
    """

    def __init__(self, dispatcher: Dispatcher, keys: Sequence[str]) -> None:
        self.dispatcher = dispatcher
        self._key = {key: number for number, key in enumerate(keys)}
        self.decisions, self.lines, self.reasons = Pool(), Pool(), Pool()
        self._slots = [_SlotRules(dispatcher, slot) for slot in range(len(dispatcher.universe.slots))]
        self._numbers: dict[Hashable, int] = {}

    def plan(self, name: OperatorName) -> list[int]:
        """A decision and a reason for each slot of an operator."""
        dispatcher = self.dispatcher
        registered, _ = dispatcher.shape(name)
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
        without = [] if decision.otherwise is None else [self._decision(decision.otherwise, key)]
        source = FALLBACK if decision.rule is Rule.FALLBACK else NO_KEY
        if decision.source is not None:
            source = self._place(decision.source, key)
        kernel = AMBIGUOUS_KERNEL.label if decision.rule is Rule.AMBIGUOUS else ""
        return [decision.rule.dump_text, decision.number, source, kernel, *without]

    def _place(self, source: str, key: str) -> int:
        return OWN if source == key else self._key[source]

    def _reason(self, name: OperatorName, key: str) -> int:
        dispatcher = self.dispatcher
        answers = runners_up(dispatcher, name, key)
        lines = tuple(self.lines.add(_cells(line, key)) for line in rule_lines(dispatcher, name, key, answers))
        return self.reasons.add((lines, self._concerned(name, key, answers), self._next(answers, key)))

    def _concerned(self, name: OperatorName, key: str, answers: tuple[SlotAnswer, ...]) -> Hashable:
        """For each the key, what it does there, the tone of that, and what the overridden ones do, if they count."""
        return tuple(
            (
                FALLBACK if registration.key is None else self._place(registration.key, key),
                f"{ROLES[registration.role]} ({registration.rule_number})",
                ROLE_TONES[registration.role].value,
                f"{ROLES[Role.OVERRIDDEN]} ({registration.rule_number})" if registration.and_overridden else "",
            )
            for registration in concerned_keys(self.dispatcher, name, answers)
        )

    def _next(self, answers: tuple[SlotAnswer, ...], key: str) -> int:
        return self.decision(answers[1].entry.decision, key) if answers[1:] else -1


def _cells(line: RuleLine, key: str) -> Hashable:
    """The cells of a rule, each a text and its tone; the slot's own key is left open."""
    cells = (column.cell(line, False) for column in RULES)
    return tuple((OWN if cell.text == key else cell.text, cell.tone.value) for cell in cells if isinstance(cell, Run))


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
