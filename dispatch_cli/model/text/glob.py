"""Globs over names, as Python's ``fnmatch`` reads them: ``*``, ``?``, ``[abc]``, ``[!abc]``."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache


def is_glob(text: str) -> bool:
    """True if a text has a sign of globs, so that it can match others than itself."""
    return any(sign in text for sign in "*?[")


@lru_cache(maxsize=4096)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob as a pattern, for ``match``."""
    return re.compile(translate(closed(glob)))


def closed(glob: str) -> str:
    """The same glob, with each ``[`` that nothing closes written as ``[[]``.

    ``fnmatch.translate`` looks for the end of each of them up to the end of the text, so that many take long.
    """
    if glob.count("[") <= 1:
        return glob
    parts: list[str] = []
    done, last = 0, glob.rfind("]")
    while (start := glob.find("[", done)) >= 0:
        first = start + (2 if glob.startswith("!", start + 1) else 1)
        # a bracket that comes first is one of the set
        if first < last:
            end = glob.index("]", first + 1) + 1
            parts.append(glob[done:end])
        else:
            end = start + 1
            parts += (glob[done:start], "[[]")
        done = end
    return "".join((*parts, glob[done:]))
