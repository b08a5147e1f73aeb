"""Conditions of registrations: which of them hold together, and the states that follow.

A *unit* is all overloads of one operator, with the backend fallbacks of the backends for which it has kernels and those
that are of no backend, or the ``TORCH_LIBRARY`` blocks of one namespace.
Units whose registrations hold under the same conditions are a *family*: they share their cases. A *case* is which of
the registrations are there, for some consistent choice of what the atoms of their conditions are.

A *variant* is one consistent choice of what all atoms are. The first one has the most registrations, and is what
commands show; checks look at each further one for the operators of which it has a case that no earlier one has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import Atom, Condition, atoms, parts_of, value
from dispatch_cli.model.conditions.simplify import all_of
from dispatch_cli.model.conditions.worlds import MOST, TORCH_VERSION, AtomGroup, World, assignments, count, groups_of
from dispatch_cli.model.declarations import (
    Declarations,
    Define,
    Fallback,
    Implement,
    LibraryKind,
    OpenBlock,
    PythonKernel,
    Settle,
    Step,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

MOST_CASES = 64
"""Cases of a unit that are looked at: those with the most registrations."""
MOST_ASSIGNMENTS = 500_000
"""Conditions that are evaluated for all families together; the cases of those that come after that are a sample."""
FALLBACKS = ""
"""The unit of the backend fallbacks alone."""

_OF_MACHINE = re.compile(r"(?:torch\.(?!ops\b|classes\b)|sys\.|os\.|platform\.)\w")
"""Beginnings of the texts of atoms that ask for what PyTorch or the machine has."""
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
    for known in _sample(groups) if is_sample else assignments(groups):
        left[0] -= len(conditions)
        case = case_of(conditions, known)
        cases.setdefault(case.values, case)
        if len(cases) == 1 << len(conditions):
            is_sample = False
            break

    def rank(case: ConditionCase) -> tuple[int, tuple[bool, ...]]:
        return sum(compress(weights.values(), case.values)), case.values  # of equal ones, that of the first condition

    ordered = sorted(cases.values(), key=rank, reverse=True)
    is_cut = is_sample or len(ordered) > MOST_CASES or any(group.is_partial for group in groups)
    return Family(tuple(units), conditions, tuple(ordered[:MOST_CASES]), is_cut)


def case_of(conditions: Iterable[Condition], known: World) -> ConditionCase:
    """The case that atoms lead to; what is not known counts as false."""
    return ConditionCase(tuple(value(condition, known) is True for condition in conditions), known)


def _sample(groups: Sequence[AtomGroup]) -> Iterator[World]:
    """A few of very many assignments: every group in each of its worlds, with the others in their first or last one."""
    for end in (0, -1):
        plain = [group.worlds[end] for group in groups if group.worlds]
        base = {atom: truth for world in plain for atom, truth in world.items()}
        yield base
        for group in groups[:MOST_CASES]:
            for world in group.worlds[:MOST_CASES]:
                yield {**base, **world}


MOST_TRIED = 64
"""Variants that are tried for each case: those that were made last."""
MOST_STEPS = 300_000
"""Registrations of all variants together; where there are more, variants have only what is looked at in them."""


class Variant:
    """known: what every atom is; of_groups: the same, by the ids of their groups. cases: the case of each unit that is
    to be looked at in it, by its position.
    """

    def __init__(self) -> None:
        self.known: dict[str, bool] = {}
        self.of_groups: dict[int, dict[str, bool]] = {}
        self.cases: dict[str, int] = {}
        self._holds: dict[When, bool] = {}

    def holds(self, when: When) -> bool:
        """True if all of the conditions hold."""
        if not when:
            return True
        is_true = self._holds.get(when)
        if is_true is None:
            is_true = self._holds[when] = all(value(condition, self.known) is True for condition in when)
        return is_true


class Variants:
    """All variants of declarations, all of whose registrations are in *declarations*.

    chosen: what the user says of names and atoms, as for `groups_of`. The version of PyTorch is that of the base.
    """

    def __init__(self, declarations: Declarations, chosen: Mapping[str, str]) -> None:
        self.declarations = declarations
        self.chosen = dict(chosen)
        self.atoms = tuple(all_atoms(declarations))
        known = {**_versions(declarations), **chosen}
        self._groups = groups_of(self.atoms, known)
        self._group_of = {atom: group for group in self._groups for world in group.worlds[:1] for atom in world}
        self._families: list[Family] = families(declarations, known)
        self.variants = self._merged()

    @property
    def default(self) -> Variant:
        """The one with the most registrations, as far as a greedy choice finds it."""
        return self.variants[0]

    @cached_property
    def family_of(self) -> dict[str, Family]:
        """The family of each unit with conditions."""
        return {unit: family for family in self._families for unit in family.units}

    @cached_property
    def defined(self) -> frozenset[OperatorName]:
        """The operators that are defined under some condition, whichever variant is looked at."""
        return frozenset(step.schema.name for step in self.declarations.steps if isinstance(step, Define))

    @cached_property
    def guards(self) -> frozenset[str]:
        """Atoms by which Python modules do nothing but let registrations be made.

        Such a guard mostly asks for the library whose operators it is about, so that what is left where it is false
        may never be there alone. It is related to no other atom, as files of which one is in the build are, and asks
        for no property of the machine, as ``torch.cuda.is_available()`` does.
        """
        guards, others = set[str](), set[str]()
        for step in _conditional(self.declarations):
            span: Span | None = getattr(step, "span", None)
            if span is None:
                continue
            for part in (part for condition in when_of(step) for part in parts_of(condition)):
                if isinstance(part, Atom) and span.file.endswith(".py"):
                    guards.add(part.text)
                else:
                    others.update(atoms(part))
        return frozenset(filter(self._is_unrelated, guards - others))

    def _is_unrelated(self, atom: str) -> bool:
        """True for an atom whose truth says nothing of another one, or of the machine."""
        group = self._group_of.get(atom)
        return group is not None and len(group.worlds[0]) == 1 and _OF_MACHINE.match(atom) is None

    @property
    def capped(self) -> list[str]:
        """The units of which not every case is looked at."""
        return sorted(unit for family in self._families if family.is_capped for unit in family.units)

    def select(self, variant: Variant) -> Declarations:
        """The declarations of a variant.

        Where there are very many registrations and variants, those of a further variant are of the units to look at.
        """
        declarations = self.declarations
        is_small = len(declarations.steps) * len(self.variants) <= MOST_STEPS
        units = None if variant is self.default or is_small else variant.cases.keys()
        inherited = frozenset(map(id, declarations.steps_before))

        def is_in(step: Step | PythonKernel) -> bool:
            if not variant.holds(when_of(step)):
                return False
            if units is None or id(step) in inherited or isinstance(step, Fallback | Settle):
                return True
            return unit_of_step(step) in units

        changes = declarations.changes
        if changes is not None:
            changes = changes._replace(
                steps=tuple(filter(is_in, changes.steps)),
                inherited_steps=tuple(filter(is_in, changes.inherited_steps)),
                python_kernels=tuple(filter(is_in, changes.python_kernels)),
            )
        return declarations._replace(
            steps=tuple(filter(is_in, declarations.steps)),
            inherited_steps=tuple(filter(is_in, declarations.inherited_steps)),
            python_kernels=tuple(filter(is_in, declarations.python_kernels)),
            changes=changes,
        )

    def _merged(self) -> list[Variant]:
        """Variants that have every case of every family, each as many as its choices leave room for.

        The first one has, of each family in turn, the case with the most registrations that is left.
        """
        variants = [Variant()]
        for family in self._families:
            case = next((case for case in family.cases if self._fits(variants[0], case)), None)
            if case is not None:
                self._take(variants[0], family, case)
        self._complete(variants[0])
        for family in self._families:
            for unit in family.units:
                variants[0].cases.setdefault(unit, self._position(family, variants[0]))
        for family in self._families:
            if not family.units:
                continue
            taken = {0}
            first = variants[0].cases[family.units[0]]
            for position, case in enumerate(family.cases):
                if position == first:
                    continue
                last = range(max(1, len(variants) - MOST_TRIED), len(variants))
                number = next((n for n in last if n not in taken and self._fits(variants[n], case)), None)
                if number is None:
                    number = len(variants)
                    variants.append(Variant())
                taken.add(number)
                self._take(variants[number], family, case, position)
        for variant in variants[1:]:
            self._complete(variant)
        return variants

    def _position(self, family: Family, variant: Variant) -> int:
        """The position of the case that a family has in a variant; -1 for one that is not among those looked at."""
        values = case_of(family.conditions, variant.known).values
        return next((n for n, case in enumerate(family.cases) if case.values == values), -1)

    def _fits(self, variant: Variant, case: ConditionCase) -> bool:
        """True if a case is consistent with what a variant has already."""
        known = variant.known
        if any(known.get(atom, truth) is not truth for atom, truth in case.known.items()):
            return False
        return all(
            any(True for _ in group.agreeing({**variant.of_groups.get(id(group), {}), **wanted}))
            for group, wanted in self._by_group(case.known)
        )

    def _by_group(self, known: World) -> list[tuple[AtomGroup, dict[str, bool]]]:
        """Known answers, by the groups of the atoms."""
        groups: dict[int, tuple[AtomGroup, dict[str, bool]]] = {}
        for atom, truth in known.items():
            group = self._group_of.get(atom)
            if group is not None:
                groups.setdefault(id(group), (group, {}))[1][atom] = truth
        return list(groups.values())

    def _take(self, variant: Variant, family: Family, case: ConditionCase, position: int | None = None) -> None:
        variant.known.update(case.known)
        for group, known in self._by_group(case.known):
            variant.of_groups.setdefault(id(group), {}).update(known)
        if position is not None:
            variant.cases.update(dict.fromkeys(family.units, position))

    def _complete(self, variant: Variant) -> None:
        """Choose what is left open."""
        for group in self._groups:
            agreeing = group.agreeing(variant.of_groups.get(id(group), {}))
            world = max(agreeing, key=lambda world: sum(world.values()), default=None)
            if world is not None:
                variant.known.update(world)


def _versions(declarations: Declarations) -> dict[str, str]:
    """Values of the names that stand for the version of PyTorch; none without an embedded state."""
    if not declarations.bases:
        return {}
    version = declarations.universe.torch.partition("+")[0]
    names = (f"TORCH_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH"))
    return {TORCH_VERSION: version, **dict(zip(names, version.split("."), strict=False))}
