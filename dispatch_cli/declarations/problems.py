"""Collecting problems: all of them, in order of place, few enough to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dispatch_cli.declarations.limits import MAX_PROBLEMS
from dispatch_cli.declarations.source import Source
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span


class Place(NamedTuple):
    """A line and a column, both 1-based."""

    line: int
    column: int


class Problems:
    """The problems of one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: dict[tuple[str, str, int, int], Problem] = {}
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def count(self) -> int:
        """How many problems there are."""
        return len(self._found) + self._more

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems in order of place; the last one counts those that are left out."""
        found = sorted(self._found.values(), key=_place)
        if self._more:
            last = found[-1]
            found.append(Problem("more-problems", f"and {self._more} more problems in this file", last.span))
        return tuple(found)

    def add(
        self,
        code: str,
        message: str,
        at: Node | Place,
        hint: str | Callable[[], str | None] | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Note a problem. A hint that is costly to find is given as a function, and found only when it is shown."""
        identity = (code, message, at.line, at.column)
        if identity in self._found:
            return  # An alias leads to the same text more than once.
        if len(self._found) >= MAX_PROBLEMS:
            self._more += 1
            return
        self._found[identity] = Problem(
            code,
            message,
            self.span(at),
            self.source.snippet(at.line, at.column) or None,
            hint() if callable(hint) else hint,
            related,
        )

    def span(self, at: Node | Place) -> Span:
        """The place of a node in this file."""
        return Span(self.source.file, at.line, at.column)

    def inside(self, node: Scalar, offset: int) -> Place:
        """The place of character *offset* (0-based) of a text; its start, when the text is not written in one piece."""
        start = node.column - 1 + (0 if node.plain else 1)
        if self.source.line(node.line).startswith(node.text, start):
            return Place(node.line, start + offset + 1)
        return Place(node.line, node.column)


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.span.line, problem.span.column) if problem.span is not None else (0, 0)
