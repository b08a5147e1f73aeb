"""Collecting problems: all of them, in order of place, few enough to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from dispatch_cli.declarations.source import Place, Source
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model import read_files
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span, cut_line

MAX_PROBLEMS = 100
"""Problems that are reported of one file; the rest is counted."""


class Problems:
    """The problems of one file.

    lines: gives the lines of a source file that a place in this file names; none where it is not to be read.
    at: the place in a source file that is to blame for what is found now; None for the place in this file.
    """

    def __init__(self, source: Source, lines: Callable[[str], Sequence[str]] | None = None) -> None:
        self.source = source
        self.at: Span | None = None
        self._lines = None if lines is None else lru_cache(maxsize=16)(lines)
        self._found: dict[tuple[str, str, Span], Problem] = {}
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def count(self) -> int:
        return len(self._found) + self._more

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems in order of place; the last one counts those that are left out."""
        ordered = sorted(self._found.values(), key=lambda problem: problem.span or Span("", 0, 0))
        if self._more:
            last = ordered[-1]
            ordered.append(Problem("more-problems", f"and {self._more} more problems in this file", last.span))
        return tuple(ordered)

    def add(
        self,
        code: str,
        message: str,
        at: Node | Place | Span,
        hint: str | Callable[[], str | None] | None = None,
        related: tuple[Related, ...] = (),
        operator: str | None = None,
    ) -> None:
        """Note a problem. A hint that is costly to find is given as a function, and found only when it is shown."""
        span = self.span(at)
        identity = (code, message, span)
        if identity in self._found:
            return  # An alias leads to the same text more than once.
        if len(self._found) >= MAX_PROBLEMS:
            self._more += 1
            return
        self._found[identity] = Problem(
            code, message, span, self._snippet(span) or None, hint() if callable(hint) else hint, related, operator
        )

    def span(self, at: Node | Place | Span) -> Span:
        """The place of a node in this file, or that in a source file which is to blame for it."""
        return at if type(at) is Span else self.at or Span(self.source.file, at.line, at.column)

    def source_of(self, file: str) -> None:
        """Make the lines of a source file known, that places in this file name."""
        if self._lines is not None and (file != self.source.file or not self.source.text):
            read_files.keep_lines(file, 0, partial(self._lines, file))

    def _snippet(self, span: Span) -> str:
        is_own = span.file == self.source.file and self.source.text
        lines = self.source.lines if is_own else read_files.lines_of(span.file)
        return cut_line(lines[span.line - 1], span.column) if span.line <= len(lines) else ""

    def inside(self, node: Scalar, offset: int) -> Place:
        """The place of character *offset* (0-based) of a text; its start, when the text is not written in one piece."""
        start = node.column - 1 + (0 if node.plain else 1)
        if self.source.line(node.line).startswith(node.text, start):
            return Place(node.line, start + offset + 1)
        return Place(node.line, node.column)
