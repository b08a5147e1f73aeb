"""The rules of a slot in order, whether each fired and why not, the registrations that they look at, and the kernels
that would follow the one in the slot if it were not there.

Every answer comes from `rules.decide`; this only asks it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import MISSING_NUMBER, PRECEDENCE, Outcome, Rule, RuleStep, choose, decide
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry, entry_for
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Origin, Span

QUESTION_NUMBER = 4
"""The rule that is a question: is there a backend kernel? Rule 6 asks it."""


class RuleState(Enum):
    """Outcome of a rule; the value is the name in machine formats.

    STANDS_BY: it has a kernel, which would be next if the earlier ones were not there. YES, NO, NOT_ASKED: of rule 4.
    NOT_KNOWN: it depends on a kernel that is not known.
    """

    FIRED = "fired"
    STANDS_BY = "stands-by"
    GAVE_WAY = "gave-way"
    NOT_COVERED = "not-covered"
    NOTHING_REGISTERED = "nothing-registered"
    YES = "yes"
    NO = "no"
    NOT_ASKED = "not-asked"
    NOT_KNOWN = "not-known"


class RuleLine(NamedTuple):
    """One rule.

    rule: what it means where it fires; None for rule 4. looks_at: the keys where it looks for a kernel.
    reached: whether the decision got as far. blockers: the keys whose kernels it gave way to, that made it ambiguous,
    or that are the answer to rule 4; where the outcome is not known, those that may have one.
    """

    rule_number: int
    rule: Rule | None
    looks_at: tuple[str, ...]
    outcome: RuleState
    reached: bool
    blockers: tuple[str, ...] = ()


class Role(Enum):
    """Part that a registration has in the slot; the value is the name in machine formats."""

    FILLS = "fills"
    OVERRIDDEN = "overridden"
    IN_CONFLICT = "in-conflict"
    IN_THE_WAY = "in-the-way"
    GIVES_WAY = "gives-way"
    STANDS_BY = "stands-by"


class Concerned(NamedTuple):
    """A registration concerned.

    rule_number: the rule that looks at it. key: where it is registered. core_fallback: it is a fallback of PyTorch
    itself. origin: through what it came, beyond its place. when: the conditions of its registration; None for none.
    """

    rule_number: int
    role: Role
    key: str
    kernel: str
    fallthrough: bool
    backend_fallback: bool
    core_fallback: bool
    span: Span | None
    origin: Origin
    when: str | None = None


STATES = {
    Outcome.FIRED: RuleState.FIRED,
    Outcome.NOT_COVERED: RuleState.NOT_COVERED,
    Outcome.NOTHING_REGISTERED: RuleState.NOTHING_REGISTERED,
    Outcome.HAS_BACKEND_KERNEL: RuleState.GAVE_WAY,
    Outcome.NOT_KNOWN: RuleState.NOT_KNOWN,
}


def _steps(answers: tuple[SlotAnswer, ...]) -> Iterator[tuple[RuleStep, bool]]:
    """Every rule's step once, and whether the decision got as far; what comes after it is as if it had not fired."""
    last = 0
    for position, answer in enumerate(answers):
        for step in answer.steps:
            if step.number > last:
                yield step, position == 0
                last = step.number


def rule_lines(
    dispatcher: Dispatcher, name: OperatorName, key: str, answers: tuple[SlotAnswer, ...]
) -> Iterator[RuleLine]:
    asked = False
    for step, reached in _steps(answers):
        if not asked and step.number > QUESTION_NUMBER:
            yield _question(dispatcher, name, key, reached)
            asked = True
        state = RuleState.STANDS_BY if step.outcome is Outcome.FIRED and not reached else STATES[step.outcome]
        blockers = dispatcher.keys_in(step.blockers)
        if step.rule is Rule.FALLBACK and key in dispatcher.layout.incomplete and key not in dispatcher.fallbacks:
            state = RuleState.NOT_KNOWN
        yield RuleLine(step.number, step.rule, (step.key or key,), state, reached, blockers)
    missing = answers[0].entry.rule is Rule.MISSING
    nothing = answers[-1].entry.rule is Rule.MISSING
    state = RuleState.FIRED if missing else RuleState.STANDS_BY if nothing else RuleState.NOTHING_REGISTERED
    yield RuleLine(MISSING_NUMBER, Rule.MISSING, (), state, missing)


def _question(dispatcher: Dispatcher, name: OperatorName, key: str, reached: bool) -> RuleLine:
    """Rule 4, for the rule that asks it: is a kernel at one of the keys that it yields to?"""
    layout, universe = dispatcher.layout, dispatcher.universe
    asking = next(row for row in PRECEDENCE if row.yields_to_backends)
    candidates = layout.candidates[universe.slot[key]]
    unless = next(candidate.unless for candidate in candidates if candidate.number == asking.number)
    looks_at = universe.autograd_backends.get(key, ())
    if asking.yields_to is not None and asking.yields_to in universe.ids:
        looks_at += (asking.yields_to,)
    registered = dispatcher.operator(name).registered
    keys = dispatcher.keys_in(unless & registered)
    state = RuleState.NOT_ASKED if not unless else RuleState.YES if keys else RuleState.NO
    unknown = dispatcher.keys_in(layout.unknown_in(unless, registered))
    if unknown and not keys:
        return RuleLine(QUESTION_NUMBER, None, looks_at, RuleState.NOT_KNOWN, reached, unknown)
    return RuleLine(QUESTION_NUMBER, None, looks_at if unless else (), state, reached, keys)


class ConcernedKey(NamedTuple):
    """The registrations at a key that matter for a slot.

    key: None for the backend fallback of the slot. and_overridden: those that the active one overrides matter, too.
    """

    rule_number: int
    role: Role
    key: str | None
    and_overridden: bool = False


def concerned_keys(
    dispatcher: Dispatcher, name: OperatorName, answers: tuple[SlotAnswer, ...]
) -> Iterator[ConcernedKey]:
    """Keys with the registrations that matter for a slot: one fills it, displaces another, or is next."""
    operator = dispatcher.operator(name)
    for step, reached in _steps(answers):
        fired, gave_way = step.outcome is Outcome.FIRED, step.outcome is Outcome.HAS_BACKEND_KERNEL
        if step.outcome is Outcome.NOT_KNOWN and step.key in operator.kernels:
            yield ConcernedKey(step.number, Role.STANDS_BY, step.key)
        if not fired and not gave_way:
            continue
        if step.rule is Rule.FALLBACK:
            yield ConcernedKey(step.number, Role.FILLS if reached else Role.STANDS_BY, None)
            continue
        ambiguous = step.rule is Rule.AMBIGUOUS
        role = Role.STANDS_BY if not reached else Role.FILLS
        role = Role.GIVES_WAY if gave_way else Role.IN_CONFLICT if ambiguous and reached else role
        yield ConcernedKey(step.number, role, step.key, and_overridden=True)
        for blocker in dispatcher.keys_in(step.blockers):
            yield ConcernedKey(step.number, Role.IN_CONFLICT if ambiguous else Role.IN_THE_WAY, blocker)


def concerned(state: State, name: OperatorName, key: str, answers: tuple[SlotAnswer, ...]) -> Iterator[Concerned]:
    """The registrations that matter for the slot: what fills it, displaces another, is overridden, or is next."""
    dispatcher = state.dispatcher
    kernels = dispatcher.operator(name).kernels
    for part in concerned_keys(dispatcher, name, answers):
        active, *others = (dispatcher.fallbacks[key],) if part.key is None else kernels[part.key]
        yield _registered(state, part.rule_number, part.role, active)
        if part.and_overridden:
            yield from (_registered(state, part.rule_number, Role.OVERRIDDEN, other) for other in others)


def _registered(state: State, number: int, role: Role, registration: Registration) -> Concerned:
    kernel, fallback = registration.kernel, registration.operator is None
    return Concerned(
        rule_number=number,
        role=role,
        key=registration.key,
        kernel=kernel.label,
        fallthrough=kernel.fallthrough,
        backend_fallback=fallback,
        core_fallback=fallback and kernel.span is None,
        span=kernel.span,
        origin=state.origin(registration),
        when=kernel.when,
    )


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


def filled_by(dispatcher: Dispatcher, name: OperatorName, alias: str) -> tuple[str, ...]:
    """The slots that a kernel at *alias* fills, or would fill if there were one; in table order.

    Errors: Refused for an unknown operator.
    """
    layout, fallbacks = dispatcher.layout, dispatcher.fallbacks
    registered = dispatcher.operator(name).registered | layout.registered_bit.get(alias, 0)
    slots = zip(dispatcher.universe.slots, layout.candidates, strict=True)
    return tuple(key for key, candidates in slots if decide(candidates, registered, key in fallbacks).source == alias)
