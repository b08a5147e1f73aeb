"""Documents as GitHub's Markdown, for a comment or a summary of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from dispatch_cli.render.document import (
    Block,
    Excerpt,
    Facts,
    Gap,
    Inline,
    Mark,
    Matrix,
    Paragraph,
    ParagraphKind,
    TableBlock,
    Tone,
    cells_of,
    indented,
    legend_of,
    lines_of,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_lines import marked_line

_MARKS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<|~#&$"})
_FIRST = re.compile(r"^(\d*)([-+=.)>])")
"""Text that may begin a list, or make a heading of the line above."""
_BACKSLASH, _BREAK = r"\1\\\2", "\\\n"
_PREFIXES = {ParagraphKind.TITLE: "##", ParagraphKind.SECTION: "###", ParagraphKind.QUOTE: ">"}


def markdown(blocks: Iterable[Block]) -> Iterator[str]:
    """Each block as Markdown, with an empty line between two of them."""
    empty = True
    for block in blocks:
        if isinstance(block, Gap) or (isinstance(block, TableBlock | Facts) and not block.rows):
            continue
        yield "" if empty else "\n"
        empty = False
        if isinstance(block, TableBlock):
            yield from _table(block)
        elif isinstance(block, Matrix):
            yield from _matrix(block)
        elif isinstance(block, Facts):
            for row in block.rows:
                label = _inline(row.label, "<br>")
                yield f"- {label}{': ' if label else ''}{_inline(row.inline, '<br>')}\n"
        else:
            yield _paragraph(marked_line(block) if isinstance(block, Excerpt) else block)


_REFERENCES = re.compile(
    r"@|:(?=//)|www(?=\.)"  # users, addresses
    r"|(?:\\#|G[HL]-|!)(?=\d)|(?:\\[&$]|\^)(?=\d|alert)|(?:%|\\~)(?=[\w\"])"  # issues, merge requests, milestones, …
    r"|\\\[(?=(?:vulnerability|feature\\_flag|cadence|contact|epic|issue|work\\_item):)|\\\*(?=iteration:)"
    r"|(?<!:):(?=(?:[0-9+-]{0,9}[a-z][\w+\\-]{0,60}|100|1234|[+-]1):)",  # emoji
    re.IGNORECASE,
)
"""Starts of names of users, addresses, issues and the like. GitHub and GitLab make links or pictures of
them, also behind a backslash, and tell the users."""
_COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{7,}", re.IGNORECASE)
"""Names of commits, of which 7 digits are enough."""
_APART = "<!-- -->"
"""An empty comment takes them apart, and cannot be seen."""


def escaped(text: str) -> str:
    """*text* as prose that is no markup, in one line. It mentions nobody and links to nothing."""
    text = _COMMIT.sub(lambda match: _APART.join(re.findall(".{1,6}", match[0])), safe(text).translate(_MARKS))
    return _REFERENCES.sub(rf"\g<0>{_APART}", text)


def _inline(inline: Inline, between: str | None = None) -> str:
    """An inline text; what is a head is bold. between: what parts its lines where each begins a line of Markdown."""
    line_texts = []
    for line in lines_of(inline):
        columns, runs_after = indented(line)
        parts = groupby(runs_after, key=lambda run: run.tone is Tone.HEAD)
        pieces = (_piece("".join(run.text for run in runs), bold) for bold, runs in parts)
        line_text = "&nbsp;" * columns + "".join(pieces)
        line_texts.append(line_text if between is None else _FIRST.sub(_BACKSLASH, line_text, count=1))
    return (between or "<br>").join(line_texts)


def _piece(text: str, bold: bool) -> str:
    """A piece of a line; marks for bold have no blanks inside."""
    inner = text.strip()
    if not bold or not inner:
        return escaped(text)
    before, _, after = text.partition(inner)
    return f"{before}**{escaped(inner)}**{after}"


def _paragraph(block: Paragraph) -> str:
    if block.kind is ParagraphKind.CODE:
        code = ["".join(safe(run.text) for run in line).rstrip() for line in lines_of(block.inline)]
        fence = "`" * max(3, 1 + max((len(ticks) for line in code for ticks in re.findall("`+", line)), default=0))
        return "\n".join([fence, *code, fence, ""])
    if block.kind is ParagraphKind.PROSE:
        return f"{_inline(block.inline, _BREAK)}\n"
    if block.kind is ParagraphKind.ITEM:
        return f"- {_inline(block.inline, '<br>')}\n"
    plain = ("".join(escaped(run.text) for run in line) for line in lines_of(block.inline))
    return "".join(f"{_PREFIXES[block.kind]} {_FIRST.sub(_BACKSLASH, line, count=1)}\n" for line in plain)


def _table(table: TableBlock) -> Iterator[str]:  # type: ignore[type-arg]
    grid = cells_of(table)
    yield f"| {' | '.join(escaped(column.header) for column in grid.columns)} |\n"
    yield f"| {' | '.join('---:' if column.right else '---' for column in grid.columns)} |\n"
    for row in grid.rows:
        yield f"| {' | '.join(map(_inline, row))} |\n"


def _matrix(matrix: Matrix) -> Iterator[str]:
    """Rows of marks, those of trouble bold, below heads with their groups; then the legend."""
    heads = [
        f"{escaped(head.group)}<br>{escaped(head.name)}" if head.group else escaped(head.name) for head in matrix.heads
    ]
    yield f"| {' | '.join((escaped(matrix.corner) or ' ', *heads))} |\n"
    yield f"| --- |{' :---: |' * len(heads)}\n"
    for row in matrix.rows:
        cells = ("".join(map(_mark, cell.marks)) for cell in row.cells)
        yield f"| {' | '.join((escaped(row.label), *cells))} |\n"
    for paragraph in legend_of(matrix):
        yield f"\n{_paragraph(paragraph)}"


def _mark(mark: Mark) -> str:
    return f"**{escaped(mark.text)}**" if mark.tone is Tone.BAD else escaped(mark.text)
