"""Conditions that say which of several files a build has: ``a.cpp is in the build, not b.cpp``.

The files that the text names after *not* are its rivals: no build has both. A *choice* of files is a set in which no
file has a rival, and to which no other file could be added. Together, the conditions of all files say what the choices
are, so that no more than their texts has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, parse_condition

MOST_RIVALS = 24
"""Files that are rivals of each other, directly or by others; where there are more, they are taken for independent."""
_PLAIN = re.compile(r"[^\s\",()]+")
_NAME = rf"(?:\"[^\"\\]+\"|{_PLAIN.pattern})"
_FORM = re.compile(rf"({_NAME}) is in the build, not ({_NAME}(?:, {_NAME})*)")
_NEGATED = re.compile(rf"not ({_NAME}) is in the build")


class FileChoice(NamedTuple):
    """A file that is in the build, with the files that are then not."""

    file: str
    rivals: tuple[str, ...]


def is_in_build(choice: FileChoice) -> Atom | None:
    """The condition under which a file is in the build; None where the names cannot stand in a condition."""
    file, *rivals = (name if _PLAIN.fullmatch(name) else f'"{name}"' for name in (choice.file, *choice.rivals))
    atom = Atom(f"{file} is in the build, not {', '.join(rivals)}")
    # the text has to be read again as this condition, also within a larger one
    around = And((Or((atom, Atom("other"))), Not(atom)))
    try:
        return atom if file_choice(atom.text) == choice and parse_condition(str(around)) == around else None
    except ValueError:
        return None


@cache
def file_choice(text: str) -> FileChoice | None:
    """The meaning of the text of such an atom; None for any other text."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    return FileChoice(match[1].strip('"'), tuple(name.strip('"') for name in re.findall(_NAME, match[2])))


def names_for(choice: FileChoice) -> tuple[str, ...]:
    """The names by which a user chooses a file."""
    return f"{choice.file} is in the build", choice.file


def worded(condition: Condition) -> str:
    """The text of a condition for people: without the rivals of a file."""
    return _NEGATED.sub(r"\1 is not in the build", _FORM.sub(r"\1 is in the build", str(condition)))


def rivalries(choices: Sequence[FileChoice]) -> list[dict[str, set[str]]]:
    """The rivals of each file, in parts: files of different parts have nothing to do with each other."""
    rivals: dict[str, set[str]] = {}
    parts: list[set[str]] = []
    for choice in choices:
        for rival in choice.rivals:
            rivals.setdefault(choice.file, set()).add(rival)
            rivals.setdefault(rival, set()).add(choice.file)
        files = {choice.file, *choice.rivals}
        touched = [part for part in parts if not files.isdisjoint(part)]
        parts = [*(part for part in parts if files.isdisjoint(part)), files.union(*touched)]
    place = {file: number for number, file in enumerate(rivals)}
    ordered = sorted((sorted(part, key=place.__getitem__) for part in parts), key=lambda files: place[files[0]])
    return [{file: rivals[file] for file in files} for files in ordered]


def choices_of(rivals: Mapping[str, set[str]]) -> Iterable[frozenset[str]]:
    """Choices among files. Not all of them, but any two files that are no rivals are together in one."""
    files = sorted(rivals)
    pairs = ({file, other} for file, other in combinations(files, 2) if other not in rivals[file])
    choices = [*({file} for file in files), *pairs]
    for chosen in choices:
        for file in files:
            if rivals[file].isdisjoint(chosen):
                chosen.add(file)
    return dict.fromkeys(map(frozenset, choices))
