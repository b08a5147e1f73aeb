"""Globs over names, as Python's ``fnmatch`` reads them: ``*``, ``?``, ``[abc]``, ``[!abc]``."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

MAX_SETS = 100
"""Sets of characters in one glob; with more, each bracket stands for itself."""


def is_glob(text: str) -> bool:
    """True if a text has a sign of globs, so that it can match others than itself."""
    return any(sign in text for sign in "*?[")


@lru_cache(maxsize=4096)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob as a pattern, for ``match``."""
    # for each bracket, `translate` looks for the end of it up to the end of the text, so that many take long
    return re.compile(translate(glob if glob.count("[") <= MAX_SETS else glob.replace("[", "[[]")))
