"""Facts for people: a label and what there is to say, which goes on below itself where the width asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dispatch_cli.render import console
from dispatch_cli.render.console import plain, width_of
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe

GAP = 2
MAX_LABEL_SHARE = 0.4
"""Labels that take more of the width than this stand above their texts where those have no room beside them."""


class Fact(NamedTuple):
    """A label, which may be untrusted, and a text of one or several lines."""

    label: str
    text: Text


def facts(rows: Sequence[Fact], style: Style, indent: int = 0) -> Iterator[RenderableType]:
    """The facts below each other, their texts in one column."""
    if not rows:
        return
    rows = [Fact(safe(row.label), row.text) for row in rows]
    width = max(width_of(row.label) for row in rows)
    if style.width is None or _fit(rows, style.width - indent - width - GAP):
        for row in rows:
            for position, line in enumerate(row.text.split("\n", allow_blank=True)):
                label = "" if position else row.label
                blanks = " " * (width - width_of(label) + GAP)
                yield Text.assemble(" " * indent, (label, console.HEAD), blanks, line)
        return
    if width > style.width * MAX_LABEL_SHARE:
        yield from _stacked(rows, indent)
        return
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(Text(row.label, console.HEAD), row.text)
    yield _indented(table, indent)


def _fit(rows: Sequence[Fact], free: int) -> bool:
    return all(width_of(line) <= free for row in rows for line in row.text.plain.split("\n"))


def lines(*texts: str) -> Text:
    """Untrusted texts below each other."""
    return Text("\n").join(map(plain, texts))


def _stacked(rows: Sequence[Fact], indent: int) -> Iterator[RenderableType]:
    for row in rows:
        yield _indented(Text(row.label, console.HEAD), indent)
        yield _indented(row.text, indent + 2 * GAP)


def _indented(renderable: RenderableType, indent: int) -> RenderableType:
    return Padding(renderable, (0, 0, 0, indent)) if indent else renderable
