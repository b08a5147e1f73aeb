"""The states that conditional registrations can lead to: few of them, which have every case of every operator.

A *variant* is one consistent choice of what all atoms are. The first one has the most registrations, and is what
commands show; checks look at each further one for the operators of which it has a case that no earlier one has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from dispatch_cli.engine.variants.units import (
    ConditionCase,
    Family,
    all_atoms,
    case_of,
    families,
    unit_of_step,
    when_of,
)
from dispatch_cli.model.conditions.condition import Condition, value
from dispatch_cli.model.conditions.worlds import TORCH_VERSION, AtomGroup, World, groups_of
from dispatch_cli.model.declarations import Declarations, Define, Fallback, PythonKernel, Settle, Step
from dispatch_cli.model.names import OperatorName

When = tuple[Condition, ...]
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
        inherited = frozenset(map(id, declarations.before.steps))

        def is_in(step: Step | PythonKernel) -> bool:
            if not variant.holds(when_of(step)):
                return False
            if units is None or id(step) in inherited or isinstance(step, Fallback | Settle):
                return True
            return unit_of_step(step) in units

        before, changes = declarations.unchanged, declarations.changes
        if changes is not None:
            kernels = tuple(filter(is_in, changes.python_kernels))
            changes = changes._replace(steps=tuple(filter(is_in, changes.steps)), python_kernels=kernels)
        return declarations._replace(
            steps=tuple(filter(is_in, declarations.steps)),
            inherited_steps=tuple(filter(is_in, declarations.inherited_steps)),
            python_kernels=tuple(filter(is_in, declarations.python_kernels)),
            unchanged=None if before is None else before._replace(steps=tuple(filter(is_in, before.steps))),
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
