"""The guards of a state: whether each holds; and guards made from what is true now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dispatch_cli.checks.guarding import Guards, Violation
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import AMBIGUOUS_KERNEL
from dispatch_cli.model.guard import Expectation, Guard, GuardField
from dispatch_cli.model.names import OperatorName

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class GuardRow:
    """A guard and what came of it.

    operators, slots: how many it speaks of; slots is 0 where it speaks of calls or backends.
    broken: what is not as it wants it. unmatched: the globs that match nothing, each with what it should match.
    """

    guard: Guard
    operators: int
    slots: int
    broken: tuple[Violation, ...]
    unmatched: tuple[tuple[str, str], ...]

    @property
    def holds(self) -> bool:
        """Whether it speaks of something, and all of that is as it wants it."""
        return not self.broken and not self.unmatched


@dataclass(frozen=True, slots=True)
class GuardsReport:
    """rows: every guard once, in the order they are declared. repeated: how many more said the same."""

    universe: str
    rows: tuple[GuardRow, ...]
    repeated: int

    @property
    def failing(self) -> bool:
        """Whether a guard does not hold."""
        return not all(row.holds for row in self.rows)


def guards_report(state: State, about: frozenset[OperatorName] | None) -> GuardsReport:
    """The guards of a state. about: the operators that they may speak of; None for all."""
    guards = Guards(View(state, (), about))
    rows = []
    for guard in guards.all:
        operators = len(guards.operators(guard))
        slots = operators * len(guards.keys(guard))
        rows.append(GuardRow(guard, operators, slots, tuple(guards.broken(guard)), tuple(guards.unmatched(guard))))
    repeated = len(state.declarations.guards) - len(guards.all)
    return GuardsReport(state.dispatcher.universe.name, tuple(rows), repeated)


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
