"""Documents as text for a terminal or a pipe.

Lines that fit and have no colour need no rich; it is imported only for colours and for wrapping. The colours are the
writer's alone: what comes from outside can change neither them nor the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.render.document import Block, Matrix, Paragraph
from dispatch_cli.render.text_lines import Style, laid_out


def text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """Each block as text. Without colour no line ends in blanks.

    What a terminal shows last is what it shows: below an answer that is higher, the verdict stands once more.
    """
    height, verdicts = 0, []
    for block in blocks:
        printed = _text(block, style)
        yield printed
        height += printed.count("\n")
        if isinstance(block, Paragraph) and block.is_verdict:
            verdicts.append(printed)
    if verdicts and style.height is not None and height >= style.height:
        yield "".join(("\n", *verdicts))


def _text(block: Block, style: Style) -> str:
    if isinstance(block, Matrix):
        from dispatch_cli.render.text_matrix import TextMatrix

        return "".join(_text(part, style) for part in TextMatrix(block, style.width).blocks())
    lines = laid_out(block, style.width)
    if lines is not None and not style.color:
        return "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)
    from dispatch_cli.render.text_wrapped import by_rich, rich_line, wrapping

    return by_rich(wrapping(block, style) if lines is None else map(rich_line, lines), style, lines is None)
