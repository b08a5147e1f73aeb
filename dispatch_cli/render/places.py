"""Places such as ``src/add.cpp:12`` in texts: a terminal opens them by a click, if they are whole. And other words."""

from __future__ import annotations

import re

from dispatch_cli.render.words import is_of_pytorch

LINE = re.compile(r"(?<=[^:]):\d+(?::\d+)?(?=[^\d:/\\]*$)")
"""The line, and perhaps the column, at the end of a place; there can be a bracket or a full stop behind it."""
BLANK = "\ue000"
"""Character that stands for a blank in a place while lines are broken; it is a blank again before it is printed."""
COUNT = re.compile(r"(?<=\S) (?=\([\d,]+(?: keys)?\)(?:\s|$))")
"""The blank before the count of keys behind their names: ``CUDA … Meta (14 keys)``; lines are not broken at it."""
START = re.compile(r"[*!] +| +")
"""The start of a line after which its further lines begin."""
WORD = re.compile(r"\S+")
_BARE_SOURCE = re.compile(r"[^/\\]+\.(?:cc|cpp|cu|cuh|h|hpp|mm|py):\d+[^/\\]*")
"""A source file without its folder: what is left of PyTorch's own places where there is little room."""


def own_places(text: str) -> list[str]:
    """The words of a text that are places in files of the user."""
    if ":" not in text:
        return []
    words = (word[0] for word in WORD.finditer(text))
    return [
        word for word in words if LINE.search(word) and not is_of_pytorch(word) and not _BARE_SOURCE.fullmatch(word)
    ]
