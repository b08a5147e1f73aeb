"""Blocks as lines that are laid out and wrapped, with their tones: for a writer that gives tones looks of its own."""

from __future__ import annotations

import io
from collections.abc import Iterator

from dispatch_cli.render.document import Block, Matrix, Run, Tone
from dispatch_cli.render.text_lines import Part, Style, TextLine, laid_out_parts


def parts_of(block: Block, width: int) -> list[Part]:
    """The lines of a block, at most so wide; those of code can be wider."""
    if isinstance(block, Matrix):
        from dispatch_cli.render.text_matrix import TextMatrix

        return [part for table in TextMatrix(block, width).blocks() for part in parts_of(table, width)]
    parts = laid_out_parts(block, width)
    return [*_wrapped(block, width)] if parts is None else parts


def _wrapped(block: Block, width: int) -> Iterator[Part]:
    from rich.console import Console
    from rich.segment import Segment
    from rich.style import Style as RichStyle
    from rich.text import Text
    from rich.theme import Theme

    from dispatch_cli.render.places import BLANK
    from dispatch_cli.render.text_wrapped import style_name, wrapping_parts

    tones = Theme({style_name(tone): RichStyle(meta={"tone": tone}) for tone in Tone})
    console = Console(width=width, theme=tones, file=io.StringIO(), color_system=None)

    def run(segment: Segment) -> Run:
        tone = segment.style.meta.get("tone", Tone.PLAIN) if segment.style else Tone.PLAIN
        return Run(segment.text.replace(BLANK, " "), tone)

    for part in wrapping_parts(block, Style(width)):
        lines: list[TextLine] = []
        for renderable in part.renderables:
            if isinstance(renderable, Text):  # as when it is printed
                renderable = Text().join([renderable])
            lines += ([run(segment) for segment in line] for line in console.render_lines(renderable, pad=False))
        yield Part(part.item, lines)
