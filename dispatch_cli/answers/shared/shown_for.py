"""Under which conditions an answer holds, where the operators that it shows have conditional registrations."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.variants import Variants, unit_of, when_of
from dispatch_cli.model.conditions.condition import And, Atom, atoms, negated, value
from dispatch_cli.model.conditions.worlds import UNDEFINED, meaning
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.sources.file_choice import file_choice, worded

_LINE = re.compile(r"\bat line (\d+)")
"""The line of a statement, in a condition on what it raises."""


class ShownFor(NamedTuple):
    """when: what holds in the state that is shown, of the conditions of the operators. others: other combinations.

    choice: the value of --when that leads to one of these.
    """

    when: tuple[str, ...]
    others: int
    choice: str | None


def shown_for(state: State, names: Iterable[OperatorName]) -> ShownFor | None:
    """Conditions for which an answer about operators holds; None where none of them has conditions."""
    variants = state.variants
    if variants is None:
        return None
    units = dict.fromkeys(map(unit_of, names))
    families = {id(family): family for unit in units if (family := variants.family_of.get(unit)) is not None}
    if not families:
        return None
    known, texts = variants.default.known, dict[str, None]()
    for family in families.values():
        whole = (
            (condition.operands if isinstance(condition, And) else (condition,)) for condition in family.conditions
        )
        for condition in dict.fromkeys(part for operands in whole for part in operands):
            holds = value(condition, known) is True
            if holds or not isinstance(condition, Atom) or file_choice(condition.text) is None:
                texts[_placed(worded(condition if holds else negated(condition)), variants)] = None
    shown = {unit for family in families.values() for unit in family.units}
    others = [variant for variant in variants.variants[1:] if not shown.isdisjoint(variant.cases)]
    decided = dict.fromkeys(atom for family in families.values() for part in family.conditions for atom in atoms(part))
    differing = (atom for atom in decided if others and others[0].known.get(atom) is not known.get(atom))
    choice = next((choosing(atom, not known.get(atom)) for atom in differing), None)
    return ShownFor(tuple(sorted(texts, key=lambda text: (text.startswith("not "), text))), len(others), choice)


def choosing(atom: str, truth: bool) -> str:
    """The value of --when that makes an atom true or false, quoted for a shell."""
    choice, statement = file_choice(atom), meaning(atom)
    name = atom if choice is None else choice.file
    if statement is not None and statement.operator == "defined":
        return shlex.quote(f"{statement.name}={'1' if truth else UNDEFINED}")
    return shlex.quote(f"{name}={int(truth)}")


def _placed(text: str, variants: Variants) -> str:
    """A condition whose lines have the names of their files; one of an exception says the line alone."""
    if _LINE.search(text) is None:
        return text
    for step in variants.declarations.steps:
        place = getattr(step, "span", None)
        for condition in when_of(step):
            if place is not None and any(atom in text and _LINE.search(atom) for atom in atoms(condition)):
                return _LINE.sub(rf"at {place.file}:\1", text)
    return text
