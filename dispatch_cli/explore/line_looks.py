"""Looks of lines: the styles of tones, and the mark of the cursor."""

from __future__ import annotations

import sys

from dispatch_cli.render.document import Tone


def can_be_written(sign: str) -> bool:
    """True if the terminal's encoding, which is that of standard error for textual, has a sign."""
    try:
        sign.encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


MARK = ("\u258c " if can_be_written("\u258c") else "| ", "  ")
"""Signs before the lines that the cursor is on, and before others, where something can be opened."""

LOOKS = {
    Tone.HEAD: "bold",
    Tone.KERNEL: "bold $text-success",
    Tone.ALIAS: "$text-accent",
    Tone.FALLBACK: "$text-primary",
    Tone.WARN: "$text-warning",
    Tone.BAD: "bold $text-error",
    Tone.DIM: "$foreground-muted",
    Tone.PLACE: "$foreground-muted",
}
"""The styles of tones; text without one is plain."""
