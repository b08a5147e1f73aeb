"""The one way to a rich console: a text of known width, with or without colour, that nobody's markup can change."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from dispatch_cli.render.style import Style
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


def to_text(renderables: Iterable[RenderableType], style: Style) -> str:
    """Render to a string; trailing blanks are taken off each line of a text without colour."""
    return "".join(_plainly(one, style) or _by_rich(one, style) for one in renderables)


def _plainly(renderable: RenderableType, style: Style) -> str | None:
    """The text of what needs no colour and no wrapping; None for what rich has to render."""
    if style.color:
        return None
    if isinstance(renderable, Text):
        lines = renderable.plain.split("\n")
    elif isinstance(renderable, Rows):
        if not fits(renderable, style):
            return None
        lines = [line.plain for line in renderable.lines()]
    else:
        return None
    if style.width is not None and any(width_of(line) > style.width for line in lines):
        return None
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _by_rich(renderable: RenderableType, style: Style) -> str:
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
    console.print(renderable, soft_wrap=style.width is None)
    text = buffer.getvalue()
    return text if style.color else "\n".join(line.rstrip() for line in text.split("\n"))


def plain(text: str, style: str = "") -> Text:
    """Untrusted text as a renderable."""
    return Text(safe(text), style)


class Rows:
    """Rows in aligned columns, in the house style: no frame, bold heads.

    They are laid out here where they have room, which is quick for thousands; where they have not, rich wraps their
    cells, so that no text is lost. indent: columns left free on the left.
    """

    GAP = 2

    def __init__(self, headers: Iterable[str], indent: int = 0) -> None:
        self.indent = indent
        self._headers: list[Text] = []
        self._justify: list[JustifyMethod] = []
        self._wraps: list[bool] = []
        self._rows: list[tuple[Text, ...]] = []
        for header in headers:
            self.add_column(header)

    def add_column(self, header: str, justify: JustifyMethod = "left", wraps: bool = True) -> None:
        """A further column; those that are not on the left are never wrapped."""
        self._headers.append(Text(header, HEAD))
        self._justify.append(justify)
        self._wraps.append(wraps and justify == "left")

    def add_row(self, *cells: Text) -> None:
        """A row, one cell per column; a cell may have several lines."""
        self._rows.append(cells)

    @property
    def width(self) -> int:
        """Columns that the rows take when no cell is wrapped."""
        return self.indent + sum(self._widths()) + self.GAP * (len(self._headers) - 1)

    def lines(self) -> Iterator[Text]:
        """The rows as lines, heads first, each cell as wide as its column."""
        widths = self._widths()
        for row in (self._headers, *self._rows):
            for cells in zip_longest(*(_lines(cell) for cell in row), fillvalue=Text()):
                yield self._line(cells, widths)

    def _line(self, cells: tuple[Text, ...], widths: list[int]) -> Text:
        line = Text(" " * self.indent)
        for cell, width, justify in zip(cells, widths, self._justify, strict=True):
            blanks = " " * (width - width_of(cell.plain))
            if justify == "right":
                line.append(blanks)
            line.append_text(cell)
            line.append((blanks if justify == "left" else "") + " " * self.GAP)
        line.rstrip()
        return line

    def _widths(self) -> list[int]:
        columns = zip(self._headers, *self._rows, strict=True)
        return [max(width_of(line) for cell in column for line in cell.plain.split("\n")) for column in columns]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.width <= options.max_width:
            yield Text("\n").join(self.lines())
            return
        table = Table(box=None, padding=(0, self.GAP, 0, 0), pad_edge=False, show_edge=False)
        for header, justify, wraps in zip(self._headers, self._justify, self._wraps, strict=True):
            table.add_column(header, justify=justify, overflow="fold", no_wrap=not wraps)
        for row in self._rows:
            table.add_row(*row)
        if not self.indent:
            yield table
            return
        from rich.padding import Padding

        yield Padding(table, (0, 0, 0, self.indent))


def width_of(text: str) -> int:
    """Columns that a text takes. Rich's tables of wide characters are asked only where there may be one."""
    if text.replace("…", ".").replace("·", ".").isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _lines(cell: Text) -> list[Text]:
    return list(cell.split("\n")) if "\n" in cell.plain else [cell]


def fits(rows: Rows, style: Style) -> bool:
    """Whether rows have room without wrapping a cell."""
    return style.width is None or rows.width <= style.width
