"""The name that sources give to the backend at PrivateUse1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.model.span import Span

MARK = b"privateuse1_backend"
"""Part of the names of the functions that give it, by which files with calls of them are found."""
_CALL = re.compile(r"(?:register|rename)_privateuse1_backend\s{0,20}\(\s{0,99}[\"']([a-z_]{1,40})[\"']\s*\)")
_COMMENTS = ("#", "//", "*", "/*")


def backend_names(files: Iterable[str], read: Callable[[str], str]) -> list[tuple[str, Span]]:
    """The names in calls with a literal, each with the place of its first call.

    Such a call is ``torch.utils.rename_privateuse1_backend("npu")`` or ``c10::register_privateuse1_backend("npu")``.
    """
    places: dict[str, Span] = {}
    for file in files:
        try:
            text = read(file)
        except SourceError:  # reported where the file is read
            continue
        for match in _CALL.finditer(text):
            start = text.rfind("\n", 0, match.start()) + 1
            before = text[start : match.start()]
            if not before.lstrip().startswith(_COMMENTS):
                place = Span(file, text.count("\n", 0, match.start()) + 1, len(before) + 1)
                places.setdefault(match[1], place)
    return list(places.items())
