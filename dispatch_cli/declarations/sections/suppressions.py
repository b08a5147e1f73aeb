"""Suppressions in a file: the section ``suppress``, and comments beside a line.

Comments in declarations and in source files accept findings: ``dispatch-cli: ignore[CHECK, …] REASON``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as SequenceOf

from dispatch_cli.declarations.fields import expect, items_of, parts, read_records, text_of
from dispatch_cli.declarations.formats.format_types import TEXT, TEXTS, Field, Record
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.source import COMMENT_MARK, Place
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.model import read_files
from dispatch_cli.model.declarations import NotUnderstood, Settle, Step
from dispatch_cli.model.settings import Selector, Suppression
from dispatch_cli.model.span import Span

SUPPRESSION = Record(
    "suppression",
    "a suppression",
    "Accepted findings. A comment at the end of the line concerned, or on the line above, does the same: `# "
    "dispatch-cli: ignore[stale-live-table] REASON`. On the first line of an operator or a library it applies to all "
    "of it.",
    (
        Field("checks", TEXTS, "The checks, by id, code, or the beginning of either.", required=True),
        Field(
            "op", TEXT, "The operators, as a glob over their names.", default="all operators, and findings without one"
        ),
        Field("key", TEXT, "The dispatch keys, as a glob.", default="all keys, and findings without one"),
        Field("reason", TEXT, "Why the findings are accepted.", required=True),
    ),
)
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|/\*)\s*dispatch-cli:\s*(.*)$")
_IGNORE = re.compile(r"ignore\s*\[([^\]]*)\]\s*(.*)$")
_EXAMPLE = "write # dispatch-cli: ignore[stale-live-table] REASON"
_COMMENTS = ("//", "#", "/*", "*")


def read_comments(problems: Problems, sections: Iterable[Node]) -> Iterator[Suppression]:
    """The comments ``# dispatch-cli: ignore[CHECK, …] REASON`` of a file; those that say less are noted.

    A comment speaks of its line; one that stands alone, of the next line that holds something. Where an entry of one
    of the sections begins on that line, such as an operator, it speaks of the whole entry.
    """
    ends = {item.line: _last_line(item) for node in sections if type(node) is Sequence for item in node.items}
    yield from _comments(problems, problems.source.lines, ends)


def _comments(
    problems: Problems, lines: SequenceOf[str], ends: AnyMapping[int, int], file: str | None = None
) -> Iterator[Suppression]:
    """The comments of a file.

    ends: the lines on which entries end, by those on which they begin. file: a source file, not that of the problems.
    """
    after: list[int] = []
    for number, line in enumerate(lines, start=1):
        if COMMENT_MARK not in line:
            continue
        if file is not None:
            problems.at = Span(file, number, line.index(COMMENT_MARK) + 1)
        comment = _read_comment(problems, line, number)
        problems.at = None
        if comment is not None:
            suppression, alone = comment
            after = after or following(lines, ("#",) if file is None else _COMMENTS)
            meant = after[number - 1] if alone else number
            yield suppression._replace(line=meant, last=ends.get(meant))


def _read_comment(problems: Problems, line: str, number: int) -> tuple[Suppression, bool] | None:
    """The comment of a line, and whether it stands alone there; None where there is none, or, noted, a bad one."""
    comment = _COMMENT.search(line)
    if comment is None:
        return None
    at = Place(number, comment.start() + 1)
    ignore = _IGNORE.match(comment[1])
    if ignore is None:
        problems.add("bad-comment", "dispatch-cli cannot parse this comment", at, _EXAMPLE)
        return None
    problems.source.budget.spend(ignore[1].count(","))
    start = comment.start(1) + ignore.start(1) + 1
    named = ((name, Place(number, start + offset)) for name, offset in parts(ignore[1]) if name)
    checks = tuple(Selector(name, problems.span(place)) for name, place in named)
    reason = ignore[2].strip().removesuffix("*/").strip()
    if not checks:
        problems.add("bad-comment", "the comment does not name a check to ignore", at, _EXAMPLE)
        return None
    return Suppression(checks, reason, problems.span(at), number), not line[: comment.start()].strip()


def _last_line(node: Node) -> int:
    """The line on which the last part of a node begins; how deep a tree can be is bounded by its reader."""
    if type(node) is Mapping:
        return max((_last_line(part) for pair in node.pairs for part in pair), default=node.line)
    if type(node) is Sequence:
        return max(map(_last_line, node.items), default=node.line)
    return node.line


def following(lines: SequenceOf[str], comments: tuple[str, ...] = ("#",)) -> list[int]:
    """For each line the number of the next one that is neither empty nor a comment; its own where there is none.

    comments: what they begin with.
    """
    numbers, last = list(range(1, len(lines) + 1)), 0
    for number in range(len(lines), 0, -1):
        numbers[number - 1] = last or number
        text = lines[number - 1].strip()
        if text and not text.startswith(comments):
            last = number
    return numbers


def read_suppressions(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, SUPPRESSION):
        checks = read_selectors(context.problems, values.get("checks"))
        op, key, reason = map(values.text, ("op", "key", "reason"))
        if checks and reason is not None:
            span = context.problems.span(values.node)
            context.contents.suppressions.append(Suppression(checks, reason, span, None, op, key))


def read_selectors(problems: Problems, node: Node | None) -> tuple[Selector, ...]:
    """Names of checks, one or a list of them; each can hold several, separated by commas. Empty ones are noted."""
    selectors: list[Selector] = []
    for item in items_of(node):
        if type(item) is not Scalar:
            expect(problems, item, "the id of a check")
        elif (text := text_of(problems, item)) is not None:
            span = problems.span(item)
            for name, offset in parts(text):
                if name:
                    at = problems.span(problems.inside(item, offset)) if offset else span
                    selectors.append(Selector(name, at))
                else:
                    problems.add("wrong-type", "the id of a check is missing here", problems.inside(item, offset))
    return tuple(selectors)


def read_source_comments(
    problems: Problems, steps: Iterable[Step], unread: Iterable[NotUnderstood]
) -> Iterator[Suppression]:
    """The comments of the source files in which something is registered, or that are not read completely; those that
    say less are noted.

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
        if statement.bound or statement.unread:
            last.setdefault(statement.at.file, {})
    for file, ends in last.items():
        yield from _comments(problems, read_files.lines_of(file), ends, file)
