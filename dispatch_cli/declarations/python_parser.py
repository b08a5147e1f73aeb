"""PyYAML's parser in Python, without its resolver and constructor: for a PyYAML that comes without libyaml."""

from __future__ import annotations

from typing import Any

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError


class PythonParser(Reader, Scanner, Parser):
    """Gives the same events as ``yaml.cyaml.CParser``."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> Any:
        """The next event. Errors: `yaml.YAMLError` also where PyYAML lets a bare ValueError out."""
        try:
            return super().get_event()  # type: ignore[no-untyped-call]
        except (ValueError, OverflowError):  # An escape or a version number beyond all bounds.
            raise ScannerError(None, None, "a number is out of range", self.get_mark()) from None
