"""Documents as text for a terminal or a pipe.

Rich is imported only for colours. These are the writer's alone: what comes from outside can change neither them nor
the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.render.document import Block, Excerpt, Matrix, Paragraph, Tone
from dispatch_cli.render.text_lines import Part, Style, TextLine, laid_out_parts

LOOKS = {
    Tone.PLAIN: "none",
    Tone.HEAD: "bold",
    Tone.KERNEL: "bold green",
    Tone.ALIAS: "cyan",
    Tone.FALLBACK: "blue",
    Tone.WARN: "yellow",
    Tone.BAD: "bold red",
    Tone.DIM: "dim",
    Tone.PLACE: "dim",
}
"""Looks of the tones, in rich's words."""


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


def parts_of(block: Block, width: int | None) -> list[Part]:
    """The lines of a block, at most so wide, None for no limit; those of code can be wider."""
    if isinstance(block, Matrix):
        from dispatch_cli.render.text_matrix import TextMatrix

        return [part for table in TextMatrix(block, width).blocks() for part in parts_of(table, width)]
    if isinstance(block, Excerpt):
        from dispatch_cli.render.snippets import marked_line

        block = marked_line(block, width)
    parts = laid_out_parts(block, width)
    if parts is None:
        from dispatch_cli.render.text_wrapped import wrapped_parts

        assert width is not None, "without a limit all blocks have room"
        return [*wrapped_parts(block, width)]
    return parts


def _text(block: Block, style: Style) -> str:
    lines = (line for part in parts_of(block, style.width) for line in part.lines)
    if style.color:
        return "".join(f"{_colored(line)}\n" for line in lines)
    return "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)


def _colored(line: TextLine) -> str:
    from rich.color import ColorSystem
    from rich.style import Style as RichStyle

    last = next((at for at in reversed(range(len(line))) if line[at].text.strip(" ")), -1)
    shown = [*line[:last], *(run._replace(text=run.text.rstrip(" ")) for run in line[last : last + 1])]
    looks = ((run.text, RichStyle.parse(LOOKS[run.tone])) for run in shown)
    return "".join(look.render(text, color_system=ColorSystem.STANDARD) for text, look in looks)
