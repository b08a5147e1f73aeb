"""The guards of a state: whether each holds; and guards made from what is true now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.checks.catalogue.guard import wants_text
from dispatch_cli.checks.guarding import Guards
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import AMBIGUOUS_KERNEL
from dispatch_cli.model.guard import Expectation, Guard, GuardField
from dispatch_cli.model.higher_order import ImplPlace
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class GuardStatus(Enum):
    """Whether a guard holds; one that matches nothing does not."""

    HOLDS = "holds"
    BROKEN = "broken"
    GUARDS_NOTHING = "guards-nothing"


class GuardCall(NamedTuple):
    """The call that a guard speaks of, as it is written."""

    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    device: str | None
    layout: str | None
    dtype: str | None
    generator: str | None


class UnmatchedGlob(NamedTuple):
    """A glob that matches nothing. kind: the word for what it should match."""

    kind: str
    glob: str


class BrokenGuard(NamedTuple):
    """Where one operator is not as a guard wants it: the slots, what is wanted and what is there, in words."""

    operator: str
    keys: tuple[str, ...]
    wanted: str
    found: str


class GuardRow(NamedTuple):
    """A guard, and whether it holds.

    ops, keys: globs. places: modes, subclasses and transforms of higher-order operators.
    wants: what it asks for, by field; text: the same in one line. reason: why it must hold.
    through: the entries of ``extends`` that led to it.
    operators, slots: how many it speaks of; slots is 0 where it speaks of calls or backends.
    """

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    places: tuple[ImplPlace, ...]
    wants: Mapping[GuardField, tuple[str, ...]]
    call: GuardCall | None
    text: str
    reason: str | None
    span: Span | None
    through: tuple[Span, ...]
    verdict: GuardStatus
    operators: int
    slots: int
    unmatched: tuple[UnmatchedGlob, ...]
    broken: tuple[BrokenGuard, ...]


@dataclass(frozen=True, slots=True)
class GuardsReport:
    """guards: every guard once, in the order they are declared. repeated: how many more said the same."""

    REPORT: ClassVar[str] = "guards"

    universe: str
    repeated: int
    guards: tuple[GuardRow, ...]

    @property
    def failing(self) -> bool:
        """Whether a guard does not hold."""
        return any(row.verdict is not GuardStatus.HOLDS for row in self.guards)


def guards_report(state: State, about: frozenset[OperatorName] | None) -> GuardsReport:
    """The guards of a state. about: the operators that they may speak of; None for all."""
    guards = Guards(View(state, (), about))
    repeated = len(state.declarations.guards) - len(guards.all)
    rows = tuple(_row(guards, guard) for guard in guards.all)
    return GuardsReport(state.dispatcher.universe.name, repeated, rows)


def _row(guards: Guards, guard: Guard) -> GuardRow:
    operators = len(guards.operators(guard))
    higher_order = guards.higher_order(guard)
    unmatched = tuple(UnmatchedGlob(*one) for one in guards.unmatched(guard))
    broken = tuple(BrokenGuard(str(one.operator), one.keys, one.wanted, one.found) for one in guards.broken(guard))
    verdict = GuardStatus.BROKEN if broken else GuardStatus.HOLDS
    call = guard.call
    return GuardRow(
        ops=guard.ops,
        keys=guard.keys,
        places=guard.places,
        wants={want.field: want.texts for want in guard.wants},
        call=call and GuardCall(tuple(map(str, call.tensors)), tuple(map(str, call.contexts)), *call.options),
        text=wants_text(guard),
        reason=guard.reason,
        span=guard.span,
        through=guard.through,
        verdict=GuardStatus.GUARDS_NOTHING if unmatched else verdict,
        operators=operators + len(higher_order),
        slots=(operators + len(higher_order)) * len(guards.keys(guard)) + len(higher_order) * len(guard.places),
        unmatched=unmatched,
        broken=broken,
    )


def recorded_guards(
    state: State, names: Iterable[OperatorName], keys: frozenset[str] | None, kernels: bool
) -> Iterator[Guard]:
    """Guards for what is in the slots now: operators that are alike share theirs.

    keys: the slots to guard; None for all. kernels: whether the kernels are to stay, and not only the rules.
    """
    view = View(state, names)
    slots = [key for key in view.universe.slots if keys is None or key in keys]
    said: dict[tuple[tuple[str, ...], str, str | None], list[str]] = {}
    for pattern in view.patterns:
        groups = _groups(pattern, slots, view.dispatcher.fallbacks)
        for name in pattern.operators:
            active = view.active(name) if kernels else {}
            for (rule, source), some in groups:
                said.setdefault((some, rule.value, _kernel(source, active, kernels)), []).append(str(name))
    for (some, rule_name, kernel), ops in sorted(said.items(), key=lambda one: (one[1][0], slots.index(one[0][0][0]))):
        wants = [Expectation(GuardField.RULE, (rule_name,))]
        if kernel is not None:
            wants.append(Expectation(GuardField.KERNEL, (kernel,)))
        yield Guard(tuple(ops), some, tuple(wants))


_Groups = list[tuple[tuple[Rule, str], tuple[str, ...]]]


def _groups(pattern: Pattern, slots: list[str], fallbacks: Mapping[str, Registration]) -> _Groups:
    """The slots by rule and by where their kernel comes from, in the order of their first.

    A fallback's kernel is the same for all operators, so its text stands for it.
    """
    found: dict[tuple[Rule, str], list[str]] = {}
    for key in slots:
        decision = pattern.decision(key)
        source = decision.source or ""
        if decision.rule is Rule.FALLBACK:
            source = f"={fallbacks[key].kernel.debug}"
        elif decision.rule is Rule.AMBIGUOUS:
            source = f"={AMBIGUOUS_KERNEL.debug}"
        elif decision.rule is Rule.KERNEL:
            source = key
        found.setdefault((decision.rule, source), []).append(key)
    return [(group, tuple(some)) for group, some in found.items()]


def _kernel(source: str, active: Mapping[str, Registration], kernels: bool) -> str | None:
    if not kernels or not source:
        return None
    return source[1:] if source.startswith("=") else active[source].kernel.debug
