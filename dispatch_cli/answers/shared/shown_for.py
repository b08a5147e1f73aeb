"""Under which conditions an answer holds, where the operators that it shows have conditional registrations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.variants.units import unit_of
from dispatch_cli.model.conditions.condition import And, Atom, negated, value
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.sources.file_choice import file_choice, worded


class ShownFor(NamedTuple):
    """when: what holds in the state that is shown, of the conditions of the operators. others: other combinations."""

    when: tuple[str, ...]
    others: int


def shown_for(state: State, names: Iterable[OperatorName]) -> ShownFor | None:
    """Conditions for which an answer about operators holds; None where none of them has conditions."""
    variants = state.variants
    if variants is None:
        return None
    units = dict.fromkeys(map(unit_of, names))
    families = {id(family): family for unit in units if (family := variants.family_of.get(unit)) is not None}
    if not families:
        return None
    texts: dict[str, None] = {}
    for family in families.values():
        whole = (
            (condition.operands if isinstance(condition, And) else (condition,)) for condition in family.conditions
        )
        parts = dict.fromkeys(part for operands in whole for part in operands)
        for condition in parts:
            holds = value(condition, variants.default.known) is True
            if holds or not isinstance(condition, Atom) or file_choice(condition.text) is None:
                texts[worded(condition if holds else negated(condition))] = None
    shown = {unit for family in families.values() for unit in family.units}
    others = sum(not shown.isdisjoint(variant.cases) for variant in variants.variants[1:])
    return ShownFor(tuple(sorted(texts, key=lambda text: (text.startswith("not "), text))), others)
