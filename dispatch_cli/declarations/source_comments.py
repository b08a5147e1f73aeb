"""Comments in source files that accept findings: ``// dispatch-cli: ignore[CHECK, …] REASON``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.settings import MARK, following, read_comment
from dispatch_cli.model import read_lines
from dispatch_cli.model.declarations import Settle, Step, UnreadStatement
from dispatch_cli.model.settings import Suppression
from dispatch_cli.model.span import Span

_COMMENTS = ("//", "#", "/*", "*")


def read_source_comments(
    problems: Problems, steps: Iterable[Step], unread: Iterable[UnreadStatement]
) -> Iterator[Suppression]:
    """The comments of the source files in which something is registered, or whose reading a bound ended; those that say
    less are noted.

    A comment speaks of its line; one that stands alone, of the next line that holds something. Where a registration
    block begins on that line, it speaks of all that is in the block.
    """
    last: dict[str, dict[int, int]] = {}
    for step in steps:
        if isinstance(step, Settle) or step.block.span is None:
            continue
        block, span = step.block.span, getattr(step, "span", None)
        ends = last.setdefault(block.file, {})
        line = span.line if span is not None and span.file == block.file else block.line
        ends[block.line] = max(ends.get(block.line, 0), line)
        if span is not None:
            last.setdefault(span.file, {})
    for statement in unread:
        if statement.bound:
            last.setdefault(statement.at.file, {})
    for file in last:
        yield from _of_file(problems, file, last[file])


def _of_file(problems: Problems, file: str, ends: dict[int, int]) -> Iterator[Suppression]:
    lines = read_lines.lines_of(file)
    after: list[int] = []
    for number, line in enumerate(lines, start=1):
        if MARK not in line:
            continue
        problems.at = Span(file, number, line.index(MARK) + 1)
        comment = read_comment(problems, line, number)
        problems.at = None
        if comment is None:
            continue
        suppression, alone = comment
        after = after or following(lines, _COMMENTS)
        meant = after[number - 1] if alone else number
        yield suppression._replace(line=meant, last=ends.get(meant))
