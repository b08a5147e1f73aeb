"""Documents as text for a terminal or a pipe.

Lines that fit and have no colour need no rich; it is imported only for colours and for wrapping. The colours are the
writer's alone: what comes from outside can change neither them nor the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.render.document import Block
from dispatch_cli.render.text_lines import Style, laid_out


def text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """Each block as text. Without colour no line ends in blanks."""
    for block in blocks:
        lines = laid_out(block, style.width)
        if lines is not None and not style.color:
            yield "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)
        else:
            from dispatch_cli.render.text_wrapped import by_rich, rich_line, wrapping

            yield by_rich(wrapping(block, style) if lines is None else map(rich_line, lines), style, lines is None)
