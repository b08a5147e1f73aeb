"""Blocks as lines that are laid out and wrapped, with their tones."""

from __future__ import annotations

from dispatch_cli.render.document import Block, Matrix
from dispatch_cli.render.text_lines import Part, laid_out_parts


def parts_of(block: Block, width: int | None) -> list[Part]:
    """The lines of a block, at most so wide, None for no limit; those of code can be wider."""
    if isinstance(block, Matrix):
        from dispatch_cli.render.text_matrix import TextMatrix

        return [part for table in TextMatrix(block, width).blocks() for part in parts_of(table, width)]
    parts = laid_out_parts(block, width)
    if parts is None:
        from dispatch_cli.render.text_wrapped import wrapped_parts

        assert width is not None, "without a limit all blocks have room"
        return [*wrapped_parts(block, width)]
    return parts
