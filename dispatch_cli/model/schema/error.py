"""Errors of reading schema text, and the limits that keep hostile text from hurting."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dispatch_cli.model.schema.refusal import SchemaRefusal

MAX_LENGTH = 64 * 1024
"""The longest schema text that is read, in characters."""

MAX_DEPTH = 64
"""Greatest depth of nested types: ``int[]`` has depth 1, ``Dict(str, int[])`` depth 2."""

MAX_BROADCAST = 64 * 1024
"""The longest list that a default such as ``float[3] x=1`` may stand for."""


class SchemaError(ValueError):
    """Text that PyTorch's schema parser refuses, or that is beyond the limits above.

    message: one plain sentence. offset: where, in characters from the start of the text, starting at 0.
    hint: what to do about it, such as ``did you mean Tensor?``, or None. refusal: what PyTorch raises for it; None for
    what is beyond the limits here.
    """

    def __init__(
        self, message: str, offset: int, hint: str | None = None, refusal: SchemaRefusal | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint
        self.refusal = refusal


def shortened(text: str) -> str:
    """*text* at a length fit for a message."""
    return text if len(text) <= 40 else f"{text[:37]}..."
