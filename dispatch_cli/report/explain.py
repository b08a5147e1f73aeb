"""One operator at one key, explained: every rule in turn, the registrations concerned, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.engine.hazards import autograd_key_of
from dispatch_cli.engine.live import StaleEntry
from dispatch_cli.engine.registration import Registration
from dispatch_cli.engine.rules import MISSING_NUMBER, PRECEDENCE, Outcome, Rule, Step
from dispatch_cli.engine.state import State
from dispatch_cli.engine.succession import Answer, succession
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.report.notes import Note
from dispatch_cli.report.slot_notes import backend_key_below, slot_notes
from dispatch_cli.report.table import TableRow, changed_slots, table_row

if TYPE_CHECKING:
    from dispatch_cli.report.explain_alias import AliasExplanation, BlockExplanation
    from dispatch_cli.report.explain_error import ErrorReport

SCHEMA_VERSION = 1
QUESTION_NUMBER = 4
"""The rule that is a question: is there a backend kernel? Rule 6 asks it."""


class RuleState(Enum):
    """What became of a rule; the value is the name in machine formats.

    STANDS_BY: it has a kernel, which would be next if the earlier ones were not there. YES, NO, NOT_ASKED: of rule 4.
    """

    FIRED = "fired"
    STANDS_BY = "stands-by"
    GAVE_WAY = "gave-way"
    NOT_COVERED = "not-covered"
    NOTHING_REGISTERED = "nothing-registered"
    YES = "yes"
    NO = "no"
    NOT_ASKED = "not-asked"


class RuleLine(NamedTuple):
    """One rule.

    rule: what it means where it fires; None for rule 4. looks_at: the keys where it looks for a kernel.
    reached: whether the decision got as far. blockers: the keys whose kernels it gave way to, that made it ambiguous,
    or that are the answer to rule 4.
    """

    number: int
    rule: Rule | None
    looks_at: tuple[str, ...]
    state: RuleState
    reached: bool
    blockers: tuple[str, ...] = ()


class Role(Enum):
    """What a registration has to do with the slot; the value is the name in machine formats."""

    FILLS = "fills"
    OVERRIDDEN = "overridden"
    IN_CONFLICT = "in-conflict"
    IN_THE_WAY = "in-the-way"
    GIVES_WAY = "gives-way"
    STANDS_BY = "stands-by"


class Concerned(NamedTuple):
    """A registration concerned.

    number: the rule that looks at it. key: where it is registered. core: it is a fallback of PyTorch itself.
    """

    number: int
    role: Role
    key: str
    kernel: str
    fallthrough: bool
    fallback: bool
    core: bool
    span: Span | None


class Cause(NamedTuple):
    """The change that left the live table behind. came: registered, not dropped."""

    key: str
    kernel: str
    came: bool
    fallback: bool
    span: Span | None


class SlotExplanation(NamedTuple):
    """A slot.

    row: its answer, with the live kernel where that is another, and what it was in the base where that was another.
    live: the live entry, where it is stale, and cause: what made it so.
    next: the answer without the active kernel that gives this one; None where nothing is behind it.
    above: the slot of the autograd key that comes before a backend key. below: the slot that follows an autograd key.
    in_base: the base has the operator.
    """

    key: str
    row: TableRow
    rules: tuple[RuleLine, ...]
    concerned: tuple[Concerned, ...]
    next: TableRow | None
    next_is_overridden: bool
    live: TableRow | None
    cause: Cause | None
    above: TableRow | None
    below: TableRow | None
    in_base: bool
    notes: tuple[Note, ...]


class ExplainReport(NamedTuple):
    """The answer to "why this, at this key?".

    over: the embedded states that it starts from. assumed: nobody named them. new: they do not have the operator.
    error: what was found in the error text that asked, where one did.
    """

    universe: str
    over: tuple[str, ...]
    assumed: bool
    operator: str
    schema: str | None
    span: Span | None
    new: bool
    what: SlotExplanation | AliasExplanation | BlockExplanation
    error: ErrorReport | None = None


def explain(state: State, name: OperatorName, key: str) -> SlotExplanation | AliasExplanation | BlockExplanation:
    """Explain an operator at a key of its universe. Errors: Refused for an unknown operator."""
    from dispatch_cli.report.explain_alias import explain_alias, explain_block

    universe = state.dispatcher.universe
    if key in universe.slot:
        return explain_slot(state, name, key)
    return explain_alias(state, name, key) if universe.is_alias(key) else explain_block(state, name, key)


def explain_slot(state: State, name: OperatorName, key: str) -> SlotExplanation:
    """Explain a slot. Errors: Refused for an unknown operator, and for a key without a slot."""
    dispatcher = state.dispatcher
    answers = succession(dispatcher, name, key)
    table = dispatcher.table(name)
    stale = {entry.canonical.key: entry for entry in dispatcher.stale_entries(name)}
    behind = stale.get(key)
    entry = answers[0].entry
    overridden = _overridden(dispatcher, name, entry.registration)
    following = entry._replace(registration=overridden[0]) if overridden else answers[1].entry if answers[1:] else None
    above, below = autograd_key_of(dispatcher.universe, key), backend_key_below(dispatcher.universe, key)
    return SlotExplanation(
        key=key,
        row=table_row(dispatcher, entry, behind, changed_slots(state, name).get(key)),
        rules=tuple(_rules(dispatcher, name, key, answers)),
        concerned=tuple(_concerned(dispatcher, name, key, answers)),
        next=table_row(dispatcher, following) if following is not None else None,
        next_is_overridden=bool(overridden),
        live=table_row(dispatcher, behind.live) if behind is not None else None,
        cause=_cause(behind) if behind is not None else None,
        above=table_row(dispatcher, table[above], stale.get(above)) if above is not None else None,
        below=table_row(dispatcher, table[below], stale.get(below)) if below is not None else None,
        in_base=state.base is not None and name in state.base,
        notes=slot_notes(dispatcher, name, table, dispatcher.outline(name).schema, key, stale),
    )


def _cause(behind: StaleEntry) -> Cause:
    change = behind.cause
    kernel = change.cause.kernel
    return Cause(change.key, kernel.debug, change.came, change.fallback, kernel.span)


def _overridden(dispatcher: Dispatcher, name: OperatorName, active: Registration | None) -> list[Registration]:
    """The registrations that *active* stands before, newest first."""
    if active is None or active.operator is None:
        return []
    registrations = dispatcher.operator(name).kernels[active.key]
    return registrations[registrations.index(active) + 1 :]


_STATES = {
    Outcome.FIRED: RuleState.FIRED,
    Outcome.NOT_COVERED: RuleState.NOT_COVERED,
    Outcome.NOTHING_REGISTERED: RuleState.NOTHING_REGISTERED,
    Outcome.HAS_BACKEND_KERNEL: RuleState.GAVE_WAY,
}


def _steps(answers: tuple[Answer, ...]) -> Iterator[tuple[Step, bool]]:
    """Every rule's step once, and whether the decision got as far; what comes after it is as if it had not fired."""
    last = 0
    for position, answer in enumerate(answers):
        for step in answer.steps:
            if step.number > last:
                yield step, position == 0
                last = step.number


def _rules(dispatcher: Dispatcher, name: OperatorName, key: str, answers: tuple[Answer, ...]) -> Iterator[RuleLine]:
    asked = False
    for step, reached in _steps(answers):
        if not asked and step.number > QUESTION_NUMBER:
            yield _question(dispatcher, name, key, reached)
            asked = True
        state = RuleState.STANDS_BY if step.outcome is Outcome.FIRED and not reached else _STATES[step.outcome]
        blockers = dispatcher.keys_in(step.blockers)
        yield RuleLine(step.number, step.rule, (step.key or key,), state, reached, blockers)
    missing = answers[0].entry.rule is Rule.MISSING
    nothing = answers[-1].entry.rule is Rule.MISSING
    state = RuleState.FIRED if missing else RuleState.STANDS_BY if nothing else RuleState.NOTHING_REGISTERED
    yield RuleLine(MISSING_NUMBER, Rule.MISSING, (), state, missing)


def _question(dispatcher: Dispatcher, name: OperatorName, key: str, reached: bool) -> RuleLine:
    """Rule 4, for the rule that asks it: is a kernel at one of the keys that it yields to?"""
    layout, universe = dispatcher.layout, dispatcher.universe
    asking = next(one for one in PRECEDENCE if one.yields_to_backends)
    candidates = layout.candidates[universe.slot[key]]
    unless = next(candidate.unless for candidate in candidates if candidate.number == asking.number)
    looks_at = universe.autograd_backends.get(key, ())
    if asking.yields_to is not None and asking.yields_to in universe.ids:
        looks_at += (asking.yields_to,)
    found = dispatcher.keys_in(unless & dispatcher.operator(name).registered)
    state = RuleState.NOT_ASKED if not unless else RuleState.YES if found else RuleState.NO
    return RuleLine(QUESTION_NUMBER, None, looks_at if unless else (), state, reached, found)


def _concerned(
    dispatcher: Dispatcher, name: OperatorName, key: str, answers: tuple[Answer, ...]
) -> Iterator[Concerned]:
    """What fills the slot, what it stands before, what takes it away from another, what comes next; by rule."""
    operator = dispatcher.operator(name)
    for step, reached in _steps(answers):
        fired, gave_way = step.outcome is Outcome.FIRED, step.outcome is Outcome.HAS_BACKEND_KERNEL
        if not fired and not gave_way:
            continue
        if step.rule is Rule.FALLBACK:
            yield _registered(step.number, Role.FILLS if reached else Role.STANDS_BY, dispatcher.fallbacks[key])
            continue
        ambiguous = step.rule is Rule.AMBIGUOUS
        role = Role.STANDS_BY if not reached else Role.FILLS
        role = Role.GIVES_WAY if gave_way else Role.IN_CONFLICT if ambiguous and reached else role
        active, *others = operator.kernels[step.key]
        yield _registered(step.number, role, active)
        for other in others:
            yield _registered(step.number, Role.OVERRIDDEN, other)
        for blocker in dispatcher.keys_in(step.blockers):
            way = Role.IN_CONFLICT if ambiguous else Role.IN_THE_WAY
            yield _registered(step.number, way, operator.kernels[blocker][0])


def _registered(number: int, role: Role, registration: Registration) -> Concerned:
    kernel, fallback = registration.kernel, registration.operator is None
    return Concerned(
        number=number,
        role=role,
        key=registration.key,
        kernel=kernel.debug,
        fallthrough=kernel.fallthrough,
        fallback=fallback,
        core=fallback and kernel.span is None,
        span=kernel.span,
    )
