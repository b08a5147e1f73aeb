"""Input from a terminal: text that is pasted is no key, and a key with alt is no sign of another keyboard."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.driver import Driver
from textual.events import Key
from textual.message import Message

from dispatch_cli.model.quoting import CONTROL, UNSEEN

LONGEST = 10_000
"""Characters of one paste that are kept."""


class TerminalInput(XTermParser):
    """textual's parser, with two differences.

    It takes Escape in a pasted text for a key, and all that follows. Here the end of a paste is looked for first, and
    the parser gets the text of one line (`one_line`). And it takes alt+3, or Escape and 3 at once, for £, which some
    keyboards of macOS mean by it, as nine signs more: nobody could tell them from those that were typed.
    """

    def __init__(self, debug: bool = False) -> None:
        self._end = ""
        """The last characters, if a mark can have begun in them; of a paste, these are not in it yet."""
        self._pasted: str | None = None
        """Text that is pasted, as long as its end has not come."""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """textual's."""
        if not data:
            yield from super().feed(data)
        while data:
            if self._pasted is None:
                before, mark, rest = (self._end + data).partition(BRACKETED_PASTE_START)
                self._end = "" if mark else before[1 - len(BRACKETED_PASTE_START) :]
                self._pasted = "" if mark else None
                yield from super().feed(data[: len(data) - len(rest)])
            else:
                before, mark, rest = (self._end + data).partition(BRACKETED_PASTE_END)
                self._end = "" if mark else before[1 - len(BRACKETED_PASTE_END) :]
                text = before[: len(before) - len(self._end)]
                self._pasted += text[: LONGEST - len(self._pasted)]
                if mark:
                    pasted, self._pasted = self._pasted, None
                    yield from super().feed(one_line(pasted) + mark)
            data = rest

    def tick(self) -> Iterable[Message]:
        """textual's: no more comes of a sequence that has begun."""
        for message in super().tick():
            self._end = self._end if self._pasted is not None else ""
            yield message

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterator[Key]:
        if len(sequence) == len("\x1b3") and isinstance(ANSI_SEQUENCES_KEYS.get(sequence), str):
            sequence, alt = sequence[1:], True
        for event in super()._sequence_to_key_events(sequence, alt):
            if alt and event.is_printable:
                yield Key(event.key if event.key.startswith("alt+") else f"alt+{event.key}", None)
            else:
                yield event


def one_line(text: str) -> str:
    """A text that is pasted, as a line to type in can have it: tabs and line breaks become a space, and what commands a
    terminal or cannot be seen is left out.
    """
    return re.sub(f"[{CONTROL}{UNSEEN}]", "", re.sub(r"[\t-\r\x85\u2028\u2029]+", " ", text.strip("\t\r\n")))


def read_with_own_parser(driver: type[Driver]) -> None:
    """Let a driver of textual read by `TerminalInput`; it can be told so in no other way."""
    for name in (driver.__module__, "textual.drivers.win32"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, XTermParser.__name__):
            vars(module)[XTermParser.__name__] = TerminalInput
