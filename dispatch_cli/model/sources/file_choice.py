"""Conditions that say which of several files a build has: ``a.cpp is in the build, not b.cpp``.

The files that the text names after *not* are its rivals: no build has both. A *choice* of files is a set in which no
file has a rival, and to which no other file could be added. Together, the conditions of all files say what the choices
are, so that no more than their texts has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, parse_condition

MOST_CHOICES = 64
"""Choices of rival files that are looked at."""
MOST_RIVALS = 24
"""Files that are rivals of each other, directly or by others; where there are more, they are taken for independent."""
_NAME = r"(?:\"[^\"\\]+\"|[^\s\",]+)"
_FORM = re.compile(rf"({_NAME}) is in the build, not ({_NAME}(?:, {_NAME})*)")


class FileChoice(NamedTuple):
    """A file that is in the build, with the files that are then not."""

    file: str
    rivals: tuple[str, ...]


def is_in_build(choice: FileChoice) -> Atom | None:
    """The condition under which a file is in the build; None where the names cannot stand in a condition."""
    for quote in ("", '"'):
        file, *rivals = (f"{quote}{name}{quote}" for name in (choice.file, *choice.rivals))
        atom = Atom(f"{file} is in the build, not {', '.join(rivals)}")
        around = And((Or((atom, Atom("other"))), Not(atom)))
        try:
            if file_choice(atom.text) == choice and parse_condition(str(around)) == around:
                return atom
        except ValueError:
            continue
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
    return str(_without_rivals(condition))


def _without_rivals(condition: Condition) -> Condition:
    match condition:
        case Atom(text):
            choice = file_choice(text)
            return condition if choice is None else Atom(f"{choice.file} is in the build")
        case Not(Atom(text)) if (choice := file_choice(text)) is not None:
            return Atom(f"{choice.file} is not in the build")
        case Not(operand):
            return Not(_without_rivals(operand))
        case And(operands):
            return And(tuple(map(_without_rivals, operands)))
        case Or(operands):
            return Or(tuple(map(_without_rivals, operands)))


def rivalries(choices: Sequence[FileChoice]) -> list[dict[str, set[str]]]:
    """The rivals of each file, in parts: files of different parts have nothing to do with each other."""
    rivals: dict[str, set[str]] = {}
    for choice in choices:
        for rival in choice.rivals:
            rivals.setdefault(choice.file, set()).add(rival)
            rivals.setdefault(rival, set()).add(choice.file)
    parts: list[dict[str, set[str]]] = []
    seen: set[str] = set()
    for file in rivals:
        if file in seen:
            continue
        part, waiting = {}, [file]
        seen.add(file)
        while waiting:
            current = waiting.pop()
            part[current] = rivals[current]
            new = sorted(rivals[current] - seen)
            seen.update(new)
            waiting += new
        parts.append(part)
    return parts


def choices_of(rivals: Mapping[str, set[str]]) -> Iterator[frozenset[str]]:
    """The choices among files: sets without rivals to which no other file could be added (Bron and Kerbosch)."""
    files = sorted(rivals)

    def extend(chosen: frozenset[str], open_: list[str], closed: set[str]) -> Iterator[frozenset[str]]:
        if not open_:
            if not closed:
                yield chosen
            return
        # each choice that is left has this file or one of its rivals
        pivot = min((*open_, *sorted(closed)), key=lambda file: len(rivals[file].intersection(open_)))
        for file in [name for name in open_ if name == pivot or name in rivals[pivot]]:
            rest = [name for name in open_ if name != file and name not in rivals[file]]
            yield from extend(chosen | {file}, rest, closed - rivals[file] - {file})
            open_ = [name for name in open_ if name != file]
            closed = closed | {file}

    yield from extend(frozenset(), files, set())
