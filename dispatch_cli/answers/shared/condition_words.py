"""Conditions of findings as a reader of the source knows them: a macro by its name, an expression by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dispatch_cli.model.conditions.condition import And, Condition, Not, Or, all_text, atoms, negated, parse_condition
from dispatch_cli.model.reading.read_lines import lines_of
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
    parts = _parts(condition)
    plain = [part for part in parts if not any(_local_atoms(part))]
    if len(plain) == len(parts):
        return f"when {when}"
    local = [atom for part in parts for atom in _local_atoms(part)]
    places = [*dict.fromkeys(filter(None, (_place(atom, span) for atom in local)))]
    words = f"under a condition at {' and '.join(places[:MAX_PLACES])}" if places else "under a condition"
    return f"when {all_text(plain)}, and {words}" if plain else words


def _parts(condition: Condition) -> tuple[Condition, ...]:
    """Conditions that all hold where this one does, and nowhere else."""
    if isinstance(condition, And):
        return condition.operands
    if isinstance(condition, Not) and isinstance(condition.operand, Or):
        return tuple(map(negated, condition.operand.operands))
    return (condition,)


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
