"""Limits on the bytes and things of one file. Files come from anywhere, and small ones can stand for large ones.

Every reader spends from the same budget: bytes after decompression, and *things*, which are texts, lists, mappings and
what they are multiplied to by aliases and lists of keys. The amount depends on the size of the file, so that one of a
few kilobytes is refused before it costs seconds and hundreds of megabytes.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MAX_BYTES = 64 << 20
"""Bytes of a file after decompression. A recording of all of PyTorch 2.15 has 45 MiB, a capture 5."""
FREE_BYTES, BYTES_PER_BYTE = 16 << 20, 200
"""Bytes after decompression, whatever a file's size, and for each of its bytes. Recordings have 75 to 172 per byte."""

MAX_THINGS = 2_000_000
"""Things of a file, and of all files of a run. A capture of PyTorch 2.15 has 400,000."""
FREE_THINGS, THINGS_PER_BYTE = 100_000, 3
"""Things that a file may have whatever its size, and for each of its bytes. A packed capture has 2 per byte."""

MAX_TEXT = 1 << 20
"""Characters of one text."""
CHARACTERS = 100
"""So many characters of a text count as one more thing, as does a comma: it is read for each of its aliases."""
MAX_DIGITS = 20
"""Digits of one number, which are enough for 64 bits: some are added up, and Python does not print very long ones."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{,]', re.DOTALL)
"""A text, or what each further value comes after. A text that does not end is one, too: it is looked at once."""


class OverBudget(Exception):
    """A file says more than it may. message: with the limit. hint: what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


class Budget:
    """Limits of one file, and the count of what it says.

    size: its bytes, before decompression. left: the things that the run may still have. bytes: what it may unpack to.
    things: what it may say; *spent* counts that.
    """

    __slots__ = ("bytes", "spent", "things")

    def __init__(self, size: int, left: int = MAX_THINGS) -> None:
        self.bytes = min(MAX_BYTES, FREE_BYTES + BYTES_PER_BYTE * size)
        self.things = min(left, FREE_THINGS + THINGS_PER_BYTE * size)
        self.spent = 0

    def spend(self, things: int) -> None:
        """Count *things*. Errors: OverBudget."""
        self.spent += things
        if self.spent > self.things:
            raise self.over()

    def over(self) -> OverBudget:
        """The error for too many things."""
        message = f"the file has more than {self.things} values, counting aliases and lists of keys"
        hint = "decompress it, write the values of its aliases, or load fewer files at once"
        return OverBudget(f"{message}, or the files together have", hint)

    def unpacked(self, length: int) -> None:
        """Look at the length after decompression. Errors: OverBudget."""
        if length <= self.bytes:
            return
        hint = "split it; if it is compressed, and that size is intended, decompress it first"
        raise OverBudget(f"the file is larger than {self.bytes >> 20} MiB", hint)


def weight(text: str) -> int:
    """The things that a text counts as. Many texts list names with commas between them."""
    return 1 + len(text) // CHARACTERS + text.count(",")


def parse_json(data: bytes, budget: Budget) -> Any:
    """The value of a JSON text, after counting what is in it.

    Errors: OverBudget; ValueError, also where lists nest too deeply.
    """
    text = data.decode("utf-8-sig")
    things, most = 1, budget.things - budget.spent
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if end - start > 1:
            if end - start > MAX_TEXT:
                raise OverBudget(f"a string is longer than {MAX_TEXT} characters", "shorten or remove it")
            continue
        things += 1
        if things > most:
            raise budget.over()
    budget.spend(things)
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("lists and mappings are nested too deeply") from None


def _integer(text: str) -> int:
    """Errors: OverBudget."""
    if len(text) > MAX_DIGITS:
        raise OverBudget(f"a number has more than {MAX_DIGITS} digits", "correct it")
    return int(text)


@contextmanager
def no_collection() -> Iterator[None]:
    """Leave out the search for cyclic garbage: there is none in a tree, and the search takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
