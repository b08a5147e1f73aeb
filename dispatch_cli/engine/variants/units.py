"""Units that conditions decide together: the registrations of one operator, and the cases that they can be in.

A *unit* is all overloads of one operator, with the backend fallbacks of the backends for which it has kernels and those
that are of no backend, or the ``TORCH_LIBRARY`` blocks of one namespace.
Units whose registrations hold under the same conditions are a *family*: they share their cases. A *case* is which of
the registrations are there, for some consistent choice of what the atoms of their conditions are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, atoms, value
from dispatch_cli.model.conditions.simplify import all_of
from dispatch_cli.model.conditions.worlds import MOST, AtomGroup, World, assignments, count, groups_of
from dispatch_cli.model.declarations import (
    Declarations,
    Define,
    Fallback,
    Implement,
    LibraryKind,
    OpenBlock,
    PythonKernel,
    Step,
)
from dispatch_cli.model.names import OperatorName

MOST_CASES = 64
"""Cases of a unit that are looked at: those with the most registrations."""
MOST_ASSIGNMENTS = 500_000
"""Conditions that are evaluated for all families together; the cases of those that come after that are a sample."""
FALLBACKS = ""
"""The unit of the backend fallbacks alone."""

When = tuple[Condition, ...]


class ConditionCase(NamedTuple):
    """values: of what the registrations of the family depend on. known: atoms that make them so."""

    values: tuple[bool, ...]
    known: World


class Family(NamedTuple):
    """Units whose registrations depend on the same.

    conditions: what the registrations of the units depend on, all conditions of each taken together.
    cases: those that are looked at, the one with the most registrations first. is_capped: there are others.
    """

    units: tuple[str, ...]
    conditions: tuple[Condition, ...]
    cases: tuple[ConditionCase, ...]
    is_capped: bool


def unit_of(name: OperatorName) -> str:
    """The unit of an operator: its name without the overload."""
    return name.name


def unit_of_step(step: Step | PythonKernel) -> str | None:
    """The unit that a registration belongs to; None for one that is in every state."""
    match step:
        case Define():
            return step.schema.name.name
        case Implement() | PythonKernel():
            return step.operator.name
        case Fallback():
            return FALLBACKS
        case OpenBlock(block) if block.kind is LibraryKind.DEF and not block.implicit:
            return f"TORCH_LIBRARY {block.namespace}"
        case _:
            return None


def _all(declarations: Declarations) -> Iterator[Step | PythonKernel]:
    yield from declarations.steps
    yield from declarations.python_kernels


def when_of(step: Step | PythonKernel) -> When:
    """The conditions of a registration."""
    return getattr(step, "when", ())


def _conditional(declarations: Declarations) -> Iterator[Step | PythonKernel]:
    return (step for step in _all(declarations) if when_of(step))


def all_atoms(declarations: Declarations) -> dict[str, None]:
    """The texts of all atoms, in order."""
    whens = dict.fromkeys(when_of(step) for step in _conditional(declarations))
    return dict.fromkeys(atom for when in whens for condition in when for atom in atoms(condition))


def families(declarations: Declarations, chosen: Mapping[str, str]) -> list[Family]:
    """The families of units with conditions, those with the most registrations first. chosen: as for `groups_of`."""
    of_units: dict[str, Counter[When]] = {}
    fallbacks: list[Fallback] = []
    backends: dict[str, set[str | None]] = {}
    parts = declarations.universe.runtime_parts
    for step in _all(declarations):
        unit, when = unit_of_step(step), when_of(step)
        if unit is None:
            continue
        if isinstance(step, Fallback):
            fallbacks += [step] if when else []
        elif isinstance(step, Implement):
            key = step.dispatch_key or step.block.dispatch_key or ""
            backends.setdefault(unit, {None}).add(parts.get(key, ("", None))[1])
        if when:
            of_units.setdefault(unit, Counter())[when] += 1
    for unit, of_unit in backends.items() if fallbacks else ():
        concern = [
            fallback.when for fallback in fallbacks if parts.get(fallback.dispatch_key, ("", None))[1] in of_unit
        ]
        if concern:
            of_units.setdefault(unit, Counter()).update(concern)
    whole: dict[When, Condition] = {}
    by_conditions: dict[frozenset[Condition], dict[str, Counter[Condition]]] = {}
    for unit, whens in of_units.items():
        weights = Counter[Condition]()
        for when, weight in whens.items():
            if when not in whole:
                whole[when] = all_of(when)
            weights[whole[when]] += weight
        by_conditions.setdefault(frozenset(weights), {})[unit] = weights
    weighted = [(sum(map(Counter.total, those.values())), those) for those in by_conditions.values()]
    weighted.sort(key=lambda pair: -pair[0])
    left = [MOST_ASSIGNMENTS]
    return [_family(those, chosen, left) for _, those in weighted]


def _family(units: Mapping[str, Counter[Condition]], chosen: Mapping[str, str], left: list[int]) -> Family:
    """The family of units. left: of the choices of atoms that the families together may look at."""
    weights = Counter[Condition]()
    for of_unit in units.values():
        weights.update(of_unit)
    conditions = tuple(weights)
    groups = groups_of(dict.fromkeys(atom for condition in conditions for atom in atoms(condition)), chosen)
    is_sample = count(groups) > min(MOST, left[0])
    cases: dict[tuple[bool, ...], ConditionCase] = {}
    for known in chain(_fitting(groups, conditions), _sample(groups) if is_sample else assignments(groups)):
        left[0] -= len(conditions)
        case = case_of(conditions, known)
        cases.setdefault(case.values, case)
        if len(cases) == 1 << len(conditions):
            is_sample = False
            break

    def registrations(case: ConditionCase) -> int:
        return sum(compress(weights.values(), case.values))

    ordered = sorted(cases.values(), key=registrations, reverse=True)
    is_cut = is_sample or len(ordered) > MOST_CASES or any(group.is_partial for group in groups)
    return Family(tuple(units), conditions, tuple(ordered[:MOST_CASES]), is_cut)


def case_of(conditions: Iterable[Condition], known: World) -> ConditionCase:
    """The case that atoms lead to; what is not known counts as false."""
    return ConditionCase(tuple(value(condition, known) is True for condition in conditions), known)


def _fitting(groups: Sequence[AtomGroup], conditions: Sequence[Condition]) -> Iterator[World]:
    """For each condition, a choice of atoms with which it holds, as far as a look at its parts one by one finds it."""
    group_of = {atom: group for group in groups for world in group.worlds[:1] for atom in world}
    for condition in conditions[:MOST_CASES]:
        wanted: dict[str, bool] = {}
        _make(condition, True, wanted, group_of)
        known: dict[str, bool] = {}
        for group in groups:
            known.update(next(group.agreeing(wanted), group.worlds[-1] if group.worlds else {}))
        yield known


def _make(condition: Condition, truth: bool, wanted: dict[str, bool], group_of: Mapping[str, AtomGroup]) -> bool:
    """Add to *wanted* what makes a condition true or false. Returns False, and adds nothing, where it finds nothing."""
    match condition:
        case Atom(text):
            group = group_of.get(text)
            if text in wanted or group is None:
                return wanted.get(text) is truth
            wanted[text] = truth
            if next(group.agreeing(wanted), None) is None:
                del wanted[text]
                return False
            return True
        case Not(operand):
            return _make(operand, not truth, wanted, group_of)
        case And(operands) | Or(operands):
            if isinstance(condition, Or) is truth:
                return any(_make(operand, truth, wanted, group_of) for operand in operands)
            more = dict(wanted)
            if all(_make(operand, truth, more, group_of) for operand in operands):
                wanted.update(more)
                return True
            return False


def _sample(groups: Sequence[AtomGroup]) -> Iterator[World]:
    """A few of very many assignments: every group in each of its worlds, with the others in their first or last one."""
    for end in (0, -1):
        plain = [group.worlds[end] for group in groups if group.worlds]
        base = {atom: truth for world in plain for atom, truth in world.items()}
        yield base
        for group in groups[:MOST_CASES]:
            for world in group.worlds[:MOST_CASES]:
                yield {**base, **world}
