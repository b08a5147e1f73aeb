"""Errors of reading schema text, and the limits that keep hostile text from hurting."""

from __future__ import annotations

MAX_LENGTH = 64 * 1024
"""The longest schema text that is read, in characters."""
MAX_DEPTH = 64
"""Greatest depth of nested types: ``int[]`` has depth 1, ``Dict(str, int[])`` depth 2."""
MAX_BROADCAST = 64 * 1024
"""The longest list that a default such as ``float[3] x=1`` may stand for."""


class SchemaError(ValueError):
    """Text that PyTorch's schema parser refuses, or that is not understood here.

    message: one plain sentence. offset: where, in characters from the start of the text, starting at 0.
    hint: what to do about it, such as ``did you mean Tensor?``, or None.
    """

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


class PartError(ValueError):
    """A part of a schema that cannot be read, before its place is known; the message is one plain sentence."""


def shortened(text: str) -> str:
    """*text* at a length fit for a message."""
    return text if len(text) <= 40 else f"{text[:37]}..."
