"""Patterns of ``.gitignore``, globs of options, which are read the same way, and the files that git tracks.

The meaning is that of git (``gitignore(5)``, ``wildmatch.c``). No pattern takes more than the product of its length and
that of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.files import paths

MAX_PATTERN = 4096
"""Characters of one pattern; a longer one matches nothing."""
_NEVER = re.compile(r"(?!)")
_SIGNS = re.compile(r"[*?\[\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_RULES = 2_000
"""Rules of one file."""
Matcher = Callable[[str], object]
"""A test of one part of a path."""


class IgnoreRule(NamedTuple):
    """A pattern of an ignore file.

    parts: for each part of a path what it must match, None for ``**``. negated: what matches is not left out.
    folders_only: it is about folders.
    """

    parts: tuple[Matcher | None, ...]
    negated: bool
    folders_only: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """True if it is about a path, which is given by its parts below the pattern's own folder."""
        last = self.parts[-1]
        if not path or (self.folders_only and not is_folder) or not (last is None or last(path[-1])):
            return False  # of most paths, that is all there is to do
        return _match(self.parts, path)


def _match(parts: Sequence[Matcher | None], path: Sequence[str]) -> bool:
    """True if all parts match. All places that a part can end at are kept, so nothing is tried twice."""
    places = {0}
    for number, part in enumerate(parts, 1):
        if part is None and places:
            least = min(places) + (number == len(parts))  # ``a/**`` is about what is in a, not about a
            places = set(range(least, len(path) + 1))
        elif part is not None:
            places = {place + 1 for place in places if place < len(path) and part(path[place])}
    return len(path) in places


def parse_rule(line: str) -> IgnoreRule | None:
    """The rule of a line of ``.gitignore``; None for one that says nothing."""
    text = line.removesuffix("\r").rstrip(" ")
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    if not text or len(text) > MAX_PATTERN:
        return None
    parts = text.removeprefix("/").split("/") if "/" in text else ["**", text]
    matchers = tuple(None if part == "**" and len(parts) > 1 else _matcher(part) for part in parts)
    return IgnoreRule(matchers, negated, folders_only)


@lru_cache(maxsize=4096)
def _matcher(part: str) -> Matcher:
    """A test of one part of a path; named sets of characters, such as ``[:alpha:]``, are not known."""
    if _SIGNS.search(part) is None:
        return part.__eq__
    glob = _ESCAPED.sub(lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], part).replace("[^", "[!")
    return _NEVER.match if part.endswith("\\") else re.compile(translate(glob)).match


class IgnoreList:
    """The rules of one file, the later the stronger; none where there are too many.

    folder: where they hold, by the parts of its path.
    """

    def __init__(self, lines: Iterable[str], folder: tuple[str, ...] = ()) -> None:
        self.folder = folder
        rules = [rule for line in lines if (rule := parse_rule(line)) is not None]
        self._rules = rules[::-1] if len(rules) <= MAX_RULES else []

    def __bool__(self) -> bool:
        return bool(self._rules)

    def decides(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """True if a path is left out; None where no rule is about it. path: by its parts, its folder's included."""
        below = path[len(self.folder) :]
        return next((not rule.negated for rule in self._rules if rule.matches(below, is_folder)), None)

    def covers(self, path: str, folder: str | None, is_folder: bool = False) -> bool:
        """True if a path, or a folder that it is in, is left out. folder: where the rules are from."""
        parts = paths.parts(path, folder)
        counts = range(1, len(parts) + 1)
        return any(self.decides(parts[:count], is_folder or count < len(parts)) for count in counts)


def is_left_out(lists: Sequence[IgnoreList], path: Sequence[str], is_folder: bool) -> bool:
    """True if a path is left out by rules, the stronger the later; the folders above it are not looked at."""
    decisions = (rules.decides(path, is_folder) for rules in reversed(lists))
    return next((decided for decided in decisions if decided is not None), False)


def tracked_files(index: bytes) -> frozenset[bytes]:
    """The paths of the files that git tracks, by its index in version 2 (``gitformat-index(5)``)."""
    names: list[bytes] = []
    start, head = 12, 62
    while index.startswith(b"DIRC\0\0\0\2") and len(names) < int.from_bytes(index[8:12], "big"):
        end = index.find(b"\0", start + head)
        if end < 0:
            break
        names.append(index[start + head : end])
        start += (end - start) // 8 * 8 + 8  # one to eight zero bytes are behind the name
    return frozenset(names)
