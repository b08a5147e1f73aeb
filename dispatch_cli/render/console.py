"""The one way to a rich console: a text of known width, with or without colour, that nobody's markup can change."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from dispatch_cli.render.text_safety import safe

UNLIMITED = 1_000_000
"""Width where no terminal limits it: nothing is cut or wrapped in a pipe."""

KERNEL = "bold green"
ALIAS = "cyan"
FALLBACK = "blue"
DIM = "dim"
BAD = "bold red"
WARN = "yellow"
PLACE = "dim"
HEAD = "bold"


class Style(NamedTuple):
    """How a text goes out: width in columns (None where nothing limits it), and whether in colour."""

    width: int | None = None
    color: bool = False


def to_text(renderables: Iterable[RenderableType], style: Style) -> str:
    """Render to a string; trailing blanks are taken off each line of a text without colour."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=style.width or UNLIMITED,
        force_terminal=style.color,
        no_color=not style.color,
        color_system="standard" if style.color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    for renderable in renderables:
        console.print(renderable, soft_wrap=style.width is None and isinstance(renderable, Text))
    text = buffer.getvalue()
    return text if style.color else "\n".join(line.rstrip() for line in text.split("\n"))


def plain(text: str, style: str = "") -> Text:
    """Untrusted text as a renderable."""
    return Text(safe(text), style)


def grid(headers: Iterable[str], style: Style) -> Table:
    """An empty table in the house style: no frame, bold heads, cells that wrap rather than lose text."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=HEAD, show_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold", no_wrap=style.width is None)
    return table


def fits(table: Table, style: Style) -> bool:
    """Whether a table has room without wrapping a cell."""
    return style.width is None or Console(width=UNLIMITED).measure(table).maximum <= style.width
