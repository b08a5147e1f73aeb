"""What conditions decide together: the registrations of one operator, and the cases that they can be in.

A *unit* is all overloads of one operator, with the backend fallbacks of the backends for which it has kernels and those
that are of no backend, or the ``TORCH_LIBRARY`` blocks of one namespace.
Units whose registrations have the same conditions are a *family*: they share their cases. A *case* is what these
conditions are, each true or false, for some consistent choice of what their atoms are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.model.condition import Condition, atoms, value
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
from dispatch_cli.model.worlds import MOST, AtomGroup, World, assignments, count, groups_of

MOST_CASES = 64
"""Cases of a unit that are looked at: those with the most registrations."""
FALLBACKS = ""
"""The unit of the backend fallbacks alone."""

When = tuple[Condition, ...]


class ConditionCase(NamedTuple):
    """values: of the family's conditions. known: atoms that make them so."""

    values: tuple[bool, ...]
    known: World


class Family(NamedTuple):
    """Units with the same conditions.

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
        concern = [one.when for one in fallbacks if parts.get(one.dispatch_key, ("", None))[1] in of_unit]
        if concern:
            of_units.setdefault(unit, Counter()).update(concern)
    by_conditions: dict[frozenset[Condition], dict[str, Counter[When]]] = {}
    for unit, whens in of_units.items():
        conditions = frozenset(condition for when in whens for condition in when)
        by_conditions.setdefault(conditions, {})[unit] = whens
    found = [(sum(map(Counter.total, those.values())), those) for those in by_conditions.values()]
    found.sort(key=lambda one: -one[0])
    return [_family(those, chosen) for _, those in found]


def _family(units: Mapping[str, Counter[When]], chosen: Mapping[str, str]) -> Family:
    weights: Counter[When] = Counter()
    for whens in units.values():
        weights.update(whens)
    conditions = tuple(dict.fromkeys(condition for when in weights for condition in when))
    groups = groups_of(dict.fromkeys(atom for one in conditions for atom in atoms(one)), chosen)
    is_sample = count(groups) > MOST
    positions = {condition: position for position, condition in enumerate(conditions)}
    indexed = [([positions[one] for one in when], weight) for when, weight in weights.items()]

    def registrations(case: ConditionCase) -> int:
        return sum(weight for parts, weight in indexed if all(case.values[part] for part in parts))

    cases: dict[tuple[bool, ...], ConditionCase] = {}
    for known in _sample(groups) if is_sample else assignments(groups):
        case = case_of(conditions, known)
        cases.setdefault(case.values, case)
    ordered = sorted(cases.values(), key=registrations, reverse=True)
    is_cut = is_sample or len(ordered) > MOST_CASES or any(group.is_partial for group in groups)
    return Family(tuple(units), conditions, tuple(ordered[:MOST_CASES]), is_cut)


def case_of(conditions: Iterable[Condition], known: World) -> ConditionCase:
    """The case that atoms lead to; what is not known counts as false."""
    return ConditionCase(tuple(value(one, known) is True for one in conditions), known)


def _sample(groups: Sequence[AtomGroup]) -> Iterator[World]:
    """Of very many assignments a few: every group in each of its worlds, with the others in their first or last one."""
    for end in (0, -1):
        plain = [group.worlds[end] for group in groups if group.worlds]
        base = {atom: truth for world in plain for atom, truth in world.items()}
        yield base
        for group in groups[:MOST_CASES]:
            for world in group.worlds[:MOST_CASES]:
                yield {**base, **world}
