"""The fields ``at`` and ``when``: places in sources, and conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dispatch_cli.declarations.fields import scalars, word_of
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.text import quoted
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.condition import Condition, parse_condition
from dispatch_cli.model.span import Span

AT, WHEN = "at", "when"
MAX_CONDITION = 2_000
"""Characters of the text of one condition."""
_PLACE = re.compile(r"(.+?):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?", re.S)
_HINT = "write it as FILE:LINE or FILE:LINE:COLUMN"


def read_place(problems: Problems, node: Node | None) -> Span | None:
    """The place that a field ``at`` names; None, noting why, where it names none."""
    text = word_of(problems, node)
    if text is None or type(node) is not Scalar:
        return None
    place = parse_place(text)
    if place is None:
        problems.add("bad-place", f"{quoted(text)} is not a place in a file", node, _HINT)
    else:
        problems.source_of(place.file)
    return place


def parse_place(text: str) -> Span | None:
    """The place that a text names; None where it names none."""
    match = _PLACE.fullmatch(text)
    return None if match is None else Span(match[1], int(match[2]), int(match[3] or 1))


def read_conditions(problems: Problems, known: dict[str, Condition], node: Node | None) -> tuple[Condition, ...]:
    """The conditions of a field ``when``; those that cannot be read are noted. known: those that were read before."""
    return tuple(_conditions(problems, known, node))


def _conditions(problems: Problems, known: dict[str, Condition], node: Node | None) -> Iterator[Condition]:
    for item in scalars(problems, node, "a condition") if node is not None else ():
        text = word_of(problems, item)
        if text is None:
            continue
        condition = known.get(text)
        if condition is None:
            if len(text) > MAX_CONDITION:
                message = f"the condition has more than {MAX_CONDITION} characters"
                problems.add("bad-condition", message, item)
                continue
            try:
                condition = known[text] = parse_condition(text)
            except ValueError as error:
                problems.add("bad-condition", f"the condition {quoted(text)} cannot be read: {error}", item)
                continue
        yield condition
