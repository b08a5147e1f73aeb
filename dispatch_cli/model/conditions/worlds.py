"""Sets of atoms of conditions that can be true together.

Atoms that speak of one name are related: ``defined(X)``, ``X``, ``X >= 2``, ``X == 'a'``. A *world* of a name is one
consistent choice of truth values for all atoms that speak of it: it is what they are for some value of the name, or
where it is not defined, which in ``#if`` is the same as 0. Of files that are rivals (`model.sources.file_choice`), one
is in the build. All other atoms are independent of each other.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import Atom, Condition, Not, atoms, value
from dispatch_cli.model.sources.file_choice import (
    MOST_RIVALS,
    FileChoice,
    choices_of,
    file_choice,
    names_for,
    rivalries,
)

MOST = 4_096
"""Combinations of worlds that are looked at; beyond that, conditions are taken for independent."""
MOST_VALUES = 100
"""Values of one name that are looked at."""
TORCH_VERSION = "torch.__version__"
"""The name in conditions on the version of PyTorch."""
UNDEFINED = "undefined"
"""Word in the choices of a user for a name that is not defined."""
_NAME = r"[A-Za-z_][\w.]*"
_STRING = r"'[^'\\]*'|\"[^\"\\]*\""
_CONSTANT = rf"-?(?:0[xX][0-9a-fA-F]{{1,15}}|\d{{1,18}})[uUlL]*|\d{{1,4}}(?:\.\d{{1,4}}){{1,2}}|{_STRING}"
_OPERATOR = "(>=|<=|==|!=|>|<)"
_DEFINED = re.compile(rf"defined\s*\(?\s*({_NAME})\s*\)?")
_COMPARED = re.compile(rf"({_NAME})\s*{_OPERATOR}\s*({_CONSTANT})")
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}

Value = int | str | None
"""Value of a name; None where it is not defined."""


class Meaning(NamedTuple):
    """Statement of an atom about a name. operator: ``defined``, ``true`` or a comparison with *constant*."""

    name: str
    operator: str
    constant: int | str = 0

    def holds(self, name_value: Value) -> bool:
        """True if the statement holds where the name has that value."""
        if self.operator == "defined":
            return name_value is not None
        known: int | str = 0 if name_value is None else name_value
        if self.operator == "true":
            return bool(known)
        if isinstance(known, str) or isinstance(self.constant, str):
            return (known == self.constant) == (self.operator == "==") if self.operator in ("==", "!=") else False
        return _COMPARISONS[self.operator](known, self.constant)


@cache
def meaning(atom: str) -> Meaning | None:
    """Statement of an atom about one name; None for an atom that says something else."""
    if re.fullmatch(_NAME, atom):
        return Meaning(atom, "true")
    if match := _DEFINED.fullmatch(atom):
        return Meaning(match[1], "defined")
    if (match := _COMPARED.fullmatch(atom)) is None:
        return None
    name, comparison, written = match.groups()
    constant = _constant(written)
    return None if isinstance(constant, str) and comparison not in ("==", "!=") else Meaning(name, comparison, constant)


def _constant(text: str) -> int | str:
    """The value of a number, of a version such as 2.4, which is a number, or of a text in quotes."""
    if text[0] in "'\"":
        return text[1:-1]
    return _release(text) if "." in text else _integer(text.rstrip("uUlL"))


def _release(text: str) -> int:
    """A number for a version such as 2.4.1, which is greater for a later one."""
    major, minor, patch = (*map(int, text.split(".")), 0)[:3]
    return (major * 10_000 + minor) * 10_000 + patch


def _integer(text: str) -> int:
    octal = re.fullmatch(r"(-?)0([0-7]+)", text)
    return int(f"{octal[1]}{octal[2]}", 8) if octal else int(text, 0) if "x" in text.lower() else int(text)


World = Mapping[str, bool]
"""Truth values of atoms."""


class AtomGroup(NamedTuple):
    """A name with the atoms that speak of it, or an atom that speaks of none. worlds: those that can be.

    is_partial: of very many values that make a difference, only the first were looked at.
    """

    name: str
    worlds: tuple[World, ...]
    is_partial: bool = False

    def agreeing(self, known: World) -> Iterator[World]:
        """Its worlds that agree with what is known."""
        for world in self.worlds:
            few, others = (world, known) if len(world) < len(known) else (known, world)
            if all(others.get(atom, truth) is truth for atom, truth in few.items()):
                yield world


def groups_of(texts: Iterable[str], chosen: Mapping[str, str] | None = None) -> list[AtomGroup]:
    """Groups of the atoms that speak of the same thing, in the order of the first atom of each.

    chosen: values of names, or whether atoms are true; ``undefined`` for a name that is not defined.
    """
    by_name: dict[str, dict[str, Meaning | None]] = {}
    of_files: dict[str, FileChoice] = {}
    for text in texts:
        choice = file_choice(text)
        if choice is not None:
            of_files[text] = choice
            continue
        statement = meaning(text)
        by_name.setdefault(text if statement is None else statement.name, {})[text] = statement
    groups = [_group(name, statements, chosen or {}) for name, statements in by_name.items()]
    return [*groups, *_groups_of_files(of_files, chosen or {})] if of_files else groups


def _groups_of_files(of_files: Mapping[str, FileChoice], chosen: Mapping[str, str]) -> Iterator[AtomGroup]:
    """Groups of files that are rivals, a world for each choice among them."""
    by_file: dict[str, list[str]] = {}
    for text, choice in of_files.items():
        by_file.setdefault(choice.file, []).append(text)
    for rivals in rivalries(list(of_files.values())):
        texts = {text: file for file in rivals for text in by_file.get(file, ())}
        names = {text: (text, *names_for(of_files[text])) for text in texts}
        fixed = {text: _truth(chosen[name]) for text in texts for name in names[text] if name in chosen}
        if len(rivals) > MOST_RIVALS:
            yield from (AtomGroup(text, ({text: True}, {text: False}), True) for text in texts)
            continue
        each = ({text: file in files for text, file in texts.items()} for files in choices_of(rivals))
        yield AtomGroup(min(rivals), _consistent(each, fixed))


def _consistent(worlds: Iterable[World], fixed: World) -> tuple[World, ...]:
    """The worlds that differ, of those in which atoms have the truth values that the user has fixed."""
    consistent = (world for world in worlds if all(world[atom] is truth for atom, truth in fixed.items()))
    return tuple({tuple(world.values()): world for world in consistent}.values())


def _group(name: str, statements: Mapping[str, Meaning | None], chosen: Mapping[str, str]) -> AtomGroup:
    meanings = {atom: statement for atom, statement in statements.items() if statement is not None}
    fixed = {atom: _truth(chosen[atom]) for atom in statements if atom in chosen and atom != name}
    if not meanings:
        values = [True, False] if name not in chosen else [_truth(chosen[name])]
        return AtomGroup(name, tuple({name: truth} for truth in values))
    values_of_name = _values(meanings.values()) if name not in chosen else [_value(chosen[name])]
    is_partial = len(values_of_name) > MOST_VALUES
    each = (
        {atom: statement.holds(name_value) for atom, statement in meanings.items()}
        for name_value in values_of_name[:MOST_VALUES]
    )
    return AtomGroup(name, _consistent(each, fixed), is_partial)


def _truth(text: str) -> bool:
    return text.strip().lower() not in ("0", "false", UNDEFINED, "")


def _value(text: str) -> Value:
    if text == UNDEFINED:
        return None
    if re.fullmatch(_CONSTANT, text):
        return _constant(text)
    return {"true": 1, "false": 0, "": 1}.get(text.lower(), text.strip("'\""))


def _values(meanings: Iterable[Meaning]) -> list[Value]:
    """Values that a name can have, as far as they make a difference."""
    values: dict[Value, None] = {1: None, None: None, 0: None, -1: None}
    for statement in meanings:
        if isinstance(statement.constant, str):
            values |= dict.fromkeys((statement.constant, ""))
        elif statement.operator not in ("defined", "true"):
            values |= dict.fromkeys((statement.constant, statement.constant + 1, statement.constant - 1))
    return list(values)


def assignments(those: Sequence[AtomGroup]) -> Iterator[dict[str, bool]]:
    """Every consistent choice of truth values."""
    for worlds in product(*(group.worlds for group in those)):
        yield {atom: truth for world in worlds for atom, truth in world.items()}


def count(those: Sequence[AtomGroup]) -> int:
    return prod(len(group.worlds) for group in those)


def can_hold(when: Sequence[Condition]) -> bool:
    """True if conditions can hold together; True where that would take too long to find out."""
    those = [_where(group, when) for group in groups_of(dict.fromkeys(atom for part in when for atom in atoms(part)))]
    if count(those) > MOST:
        return True
    return any(all(value(part, known) for part in when) for known in assignments(those))


def _where(group: AtomGroup, when: Sequence[Condition]) -> AtomGroup:
    """Its worlds in which those conditions hold that are single atoms or their opposites."""
    single = [it for it in when if isinstance(it, Atom) or (isinstance(it, Not) and isinstance(it.operand, Atom))]
    return group._replace(
        worlds=tuple(world for world in group.worlds if not any(value(part, world) is False for part in single))
    )


@cache
def exclude_each_other(first: tuple[Condition, ...], second: tuple[Condition, ...]) -> bool:
    """True if never all of these conditions hold."""
    return bool(first) and bool(second) and not can_hold((*first, *second))


def names_in(atom: str) -> list[str]:
    """The names that an atom mentions, with what they are parts of: ``a.b`` and ``a.b.c`` of ``a.b.c()``."""
    choice = file_choice(atom)
    if choice is not None:
        return list(names_for(choice))
    names = [match[0] for match in re.finditer(_NAME, re.sub(_STRING, "", atom)) if match[0] != "defined"]
    statement = meaning(atom)
    return names if statement is None else [statement.name]
