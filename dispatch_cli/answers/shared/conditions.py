"""Conditions in words: those for which an answer holds, and those of findings as a reader of the source knows them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.engine.state import State
from dispatch_cli.engine.variants import Variants, unit_of, when_of
from dispatch_cli.model.conditions.condition import (
    And,
    Atom,
    Condition,
    all_text,
    atoms,
    negated,
    parse_condition,
    parts_of,
    value,
)
from dispatch_cli.model.conditions.worlds import UNDEFINED, meaning
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.read_files import lines_of
from dispatch_cli.model.sources.file_choice import file_choice, worded
from dispatch_cli.model.span import Span

MAX_PLACES = 2
"""Places of conditions that are named."""
_LOCAL = re.compile(
    r"\b(?:in|for|self|cls|isinstance|import)\b|\bis\b(?! called)|\bf['\"]|(?<!defined)\(\s*[a-z_]\w*\s*[,)]|\w\["
)
"""Names in an expression of Python that mean something only where it stands."""
_OF_FILE = re.compile(r"\S.* is (?:not )?in the build(?:, not \S.*)?")
"""A condition of files that are alternatives (`model.sources.file_choice`)."""
NEAR = 2000
"""Lines before and behind a finding in which a condition is looked for."""
_WORD = re.compile(r"\w+")
_IGNORED = re.compile(r"[\s'\"()]+")
"""Signs in which an expression in a source differs from its text."""


def when_words(when: str, span: Span) -> str:
    """The condition of a finding after its sentence. span: the place of the finding."""
    try:
        condition = parse_condition(when)
    except ValueError:  # shortened
        return "under a condition" if _LOCAL.search(when) else f"when {when}"
    parts = parts_of(condition)
    plain = [part for part in parts if not any(_local_atoms(part))]
    if len(plain) == len(parts):
        return f"when {when}"
    local = [atom for part in parts for atom in _local_atoms(part)]
    places = [*dict.fromkeys(filter(None, (_place(atom, span) for atom in local)))]
    shown = " and ".join(places[:MAX_PLACES])
    words = f"under a condition at {shown}" if shown else "under a condition"
    return f"when {all_text(plain)}, and {words}" if plain else words


def _local_atoms(condition: Condition) -> Iterator[str]:
    return (atom for atom in atoms(condition) if _LOCAL.search(atom) and _OF_FILE.fullmatch(atom) is None)


def _place(atom: str, span: Span) -> str | None:
    """The place of an expression near a finding: before it, or else behind it."""
    lines = lines_of(span.file)
    text, word = _IGNORED.sub("", atom), max(_WORD.findall(atom), key=len, default="")
    before = range(min(span.line, len(lines)), max(0, span.line - NEAR), -1)
    behind = range(span.line + 1, min(len(lines), span.line + NEAR) + 1)
    for number in (*before, *behind):
        line = lines[number - 1]
        if word in line and text in _IGNORED.sub("", line):
            return f"{span.file}:{number}"
    return None


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
        return shell_word(f"{statement.name}={'1' if truth else UNDEFINED}")
    return shell_word(f"{name}={int(truth)}")


def shell_word(text: str) -> str:
    """A word as a shell takes it; one with single quotes stands in double ones."""
    return f'"{text}"' if "'" in text and set('"$`\\!').isdisjoint(text) else shlex.quote(text)


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
