"""The beginning of a long text of PyTorch."""

from __future__ import annotations

import re

BRIEF = 300
"""Characters of an error's text that are read at a glance."""
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
"""Between two sentences."""


def brief(text: str) -> str:
    """The text of an error; of one that is long, or that has several paragraphs, its first sentence and ``…``."""
    if len(text) <= BRIEF and "\n\n" not in text:
        return text
    first = _SENTENCE.split(text.split("\n", 1)[0], maxsplit=1)[0]
    return f"{first[:BRIEF].rstrip()} …"
