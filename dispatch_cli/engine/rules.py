"""The one decision: which kernel fills a slot of an operator's dispatch table, by which rule, and after which steps.

Source: ``OperatorEntry::computeDispatchTableEntryWithDebug``. Everything that asks "which kernel, and why" asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.names import Rule as Rule


class Precedence(NamedTuple):
    """An alias key's place in the order of rules.

    number: the rule's number. fills_undefined: the alias fills the Undefined slot too, which no alias covers.
    yields_to_backends: at an autograd key the alias gives way to a kernel of one of that key's backends, and to one
    at *yields_to*.
    """

    number: int
    alias: str
    rule: Rule
    fills_undefined: bool = False
    yields_to_backends: bool = False
    yields_to: str | None = None


PRECEDENCE = (
    Precedence(2, "CompositeExplicitAutogradNonFunctional", Rule.DEFAULT, fills_undefined=True),
    Precedence(3, "CompositeExplicitAutograd", Rule.DEFAULT, fills_undefined=True),
    Precedence(5, "CompositeImplicitAutogradNestedTensor", Rule.NESTED),
    Precedence(
        6,
        "CompositeImplicitAutograd",
        Rule.MATH,
        fills_undefined=True,
        yields_to_backends=True,
        yields_to="CompositeExplicitAutograd",
    ),
    Precedence(7, "Autograd", Rule.AUTOGRAD),
    Precedence(8, "FuncTorchBatchedDecomposition", Rule.BATCHED),
)
"""Rules 2 to 8; rule 1 is the key's own kernel, rule 4 is the question that rule 6 asks, 9 the fallback, 10 nothing."""
FALLBACK_NUMBER = 9
MISSING_NUMBER = 10


class Candidate(NamedTuple):
    """One thing that could fill a slot.

    key: where its kernel is registered; bit: that key's bit among registered keys, 0 where it cannot match.
    covers: whether *key* reaches this slot at all.
    unless: registered keys that displace it. ambiguous: registered keys that make it ambiguous.
    open: those of all these keys at which the operator may have a kernel that is not known (`KeyLayout.incomplete`).
    closed: the bit among registered keys that says that it has none. fallback_open: whether the slot may have a backend
    fallback that is not known.
    """

    number: int
    rule: Rule
    key: str
    bit: int
    covers: bool
    unless: int = 0
    ambiguous: int = 0
    open: int = 0
    closed: int = 0
    fallback_open: bool = False

    @property
    def bits(self) -> int:
        """The registered keys that decide whether it fills the slot."""
        return self.bit | self.unless | self.ambiguous


class Outcome(Enum):
    """The outcome of a rule at a slot."""

    FIRED = "fired"
    NOT_COVERED = "the key is not covered by the alias"
    NOTHING_REGISTERED = "no kernel is registered there"
    HAS_BACKEND_KERNEL = "a backend kernel takes precedence"
    NOT_KNOWN = "it depends on a kernel that is not known"


class RuleStep(NamedTuple):
    """One rule looked at: its number, what it would have meant, the key it looked at, the outcome.

    blockers: bits of the registered keys that decided it (HAS_BACKEND_KERNEL, or AMBIGUOUS fired); of the keys at which
    there may be a kernel that is not known (NOT_KNOWN).
    """

    number: int
    rule: Rule
    key: str
    outcome: Outcome
    blockers: int = 0


class Decision(NamedTuple):
    """Decision for a slot: the rule, its number, and the key whose kernel it is.

    source: None where no kernel of the operator is used: ambiguous, fallback, missing, not known.
    blockers: bits of the registered keys that made it ambiguous, or that took the slot away from a math kernel.
    otherwise: of a slot that is not known, the decision if there is no kernel but those that are known. Such a slot has
    the number of the first rule whose outcome is not known, and as blockers the keys on whose kernels that depends.
    """

    rule: Rule
    number: int
    source: str | None = None
    blockers: int = 0
    otherwise: Decision | None = None


MISSING = Decision(Rule.MISSING, MISSING_NUMBER)
"""No kernel fills the slot, and none was displaced."""


def decide(
    candidates: Sequence[Candidate], registered: int, has_fallback: bool, steps: list[RuleStep] | None = None
) -> Decision:
    """Decide one slot.

    candidates: the slot's, from its layout. registered: bits of the keys at which the operator has a kernel.
    has_fallback: whether a backend fallback exists for the slot. steps: gets every rule that was looked at, in turn.

    Where keys are incomplete, the slot is known if whatever is registered at them would change nothing.
    """
    decision = choose(candidates, registered, has_fallback, steps)
    first = _first_open(candidates, registered, has_fallback)
    if first is None:
        return decision
    if steps is not None:
        steps[:] = [*(step for step in steps if step.number < first.number), first]
    return Decision(Rule.NOT_KNOWN, first.number, None, first.blockers, decision)


def _first_open(candidates: Sequence[Candidate], registered: int, has_fallback: bool) -> RuleStep | None:
    """The first rule whose outcome depends on a kernel that is not known."""
    for candidate in candidates:
        unknown = 0 if registered & candidate.closed else candidate.open & ~registered
        if unknown & candidate.bit:
            return RuleStep(candidate.number, candidate.rule, candidate.key, Outcome.NOT_KNOWN, unknown & candidate.bit)
        if registered & candidate.bit:
            if registered & candidate.ambiguous:
                return None
            displaced = registered & candidate.unless
            if blockers := unknown & (candidate.ambiguous if displaced else candidate.ambiguous | candidate.unless):
                return RuleStep(candidate.number, candidate.rule, candidate.key, Outcome.NOT_KNOWN, blockers)
            if not displaced:
                return None
    own = candidates[0]
    if not own.fallback_open or has_fallback:
        return None
    return RuleStep(FALLBACK_NUMBER, Rule.FALLBACK, "", Outcome.NOT_KNOWN, own.bit)


def choose(
    candidates: Iterable[Candidate], registered: int, has_fallback: bool, steps: list[RuleStep] | None = None
) -> Decision:
    """Decide one slot by the kernels that are known, as if no key were incomplete. Arguments: as of `decide`."""
    blocked = 0
    for candidate in candidates:
        if not registered & candidate.bit:
            if steps is not None:
                outcome = Outcome.NOTHING_REGISTERED if candidate.covers else Outcome.NOT_COVERED
                steps.append(RuleStep(candidate.number, candidate.rule, candidate.key, outcome))
            continue
        if blockers := registered & candidate.ambiguous:
            if steps is not None:
                steps.append(RuleStep(candidate.number, Rule.AMBIGUOUS, candidate.key, Outcome.FIRED, blockers))
            return Decision(Rule.AMBIGUOUS, candidate.number, None, blockers)
        if blockers := registered & candidate.unless:
            blocked = blockers
            if steps is not None:
                outcome = Outcome.HAS_BACKEND_KERNEL
                steps.append(RuleStep(candidate.number, candidate.rule, candidate.key, outcome, blockers))
            continue
        if steps is not None:
            steps.append(RuleStep(candidate.number, candidate.rule, candidate.key, Outcome.FIRED))
        return Decision(candidate.rule, candidate.number, candidate.key, blocked)
    if steps is not None:
        outcome = Outcome.FIRED if has_fallback else Outcome.NOTHING_REGISTERED
        steps.append(RuleStep(FALLBACK_NUMBER, Rule.FALLBACK, "", outcome))
    if not has_fallback and not blocked:
        return MISSING
    rule, number = (Rule.FALLBACK, FALLBACK_NUMBER) if has_fallback else (Rule.MISSING, MISSING_NUMBER)
    return Decision(rule, number, None, blocked)
