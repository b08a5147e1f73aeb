"""Patterns that leave files out: lines of ``.gitignore``, and globs of options, which are read the same way.

The meaning is that of git (``gitignore(5)``, ``wildmatch.c``). No pattern takes more than the product of its length and
that of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

MAX_PATTERN = 4096
"""Characters of one pattern; a longer one matches nothing."""
_ANY_FOLDERS = None
"""The part ``**`` of a pattern."""
_NEVER = re.compile(r"(?!)")
_SIGNS = re.compile(r"[*?\[\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_RULES = 1_000
"""Rules of one file that are tried for one path: those with signs such as ``*``, and those that end with one name."""
Matcher = Callable[[str], object]
"""A test of one part of a path."""


class IgnoreRule(NamedTuple):
    """A pattern of an ignore file.

    parts: for each part of a path what it must match, None for ``**``. negated: what matches is not left out.
    folders_only: it is about folders. anywhere: it is about names at any depth. name: the name of all that it is about,
    where the pattern ends with one.
    """

    parts: tuple[Matcher | None, ...]
    negated: bool
    folders_only: bool
    anywhere: bool
    name: str | None

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """True if it is about a path, which is given by its parts below the pattern's own folder."""
        if self.folders_only and not is_folder:
            return False
        if self.anywhere:
            (only,) = self.parts
            return only is None or bool(only(path[-1]))
        return _match(self.parts, path)


def _match(parts: Sequence[Matcher | None], path: Sequence[str]) -> bool:
    """True if all parts match. The last ``**`` takes one part more where what follows it does not match."""
    at = now = 0
    retry: tuple[int, int] | None = None
    while now < len(path):
        if at < len(parts) and (part := parts[at]) is None:
            if at + 1 == len(parts):
                return True
            retry, at = (at, now), at + 1
        elif at < len(parts) and part is not None and part(path[now]):
            at, now = at + 1, now + 1
        elif retry is not None:
            at, now = retry[0] + 1, retry[1] + 1
            retry = (retry[0], now)
        else:
            return False
    return at == len(parts)


def parse_rule(line: str) -> IgnoreRule | None:
    """The rule of a line of ``.gitignore``; None for one that says nothing."""
    text = _without_blanks(line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    if not text or len(text) > MAX_PATTERN:
        return None
    parts = text.removeprefix("/").split("/")
    matchers = tuple(_ANY_FOLDERS if part == "**" and "/" in text else _matcher(part) for part in parts)
    name = None if _SIGNS.search(parts[-1]) else parts[-1]
    return IgnoreRule(matchers, negated, folders_only, "/" not in text, name)


@lru_cache(maxsize=4096)
def _matcher(part: str) -> Matcher:
    """A test of one part of a path; named sets of characters, such as ``[:alpha:]``, are not known."""
    if _SIGNS.search(part) is None:
        return part.__eq__
    glob = _ESCAPED.sub(lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], part).replace("[^", "[!")
    return _NEVER.match if part.endswith("\\") else re.compile(translate(glob)).match


def _without_blanks(line: str) -> str:
    """Without blanks at the end, except one behind a backslash."""
    text = line.rstrip(" ")
    slashes = len(text) - len(text.rstrip("\\"))
    return text + " " if slashes % 2 and len(text) < len(line) else text


class IgnoreList:
    """The rules of one file, the later the stronger.

    folder: where they hold, by the parts of its path. over: there are too many, so that no rule holds.
    """

    def __init__(self, lines: Iterable[str], folder: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.over = False
        self._named: dict[str, list[tuple[int, IgnoreRule]]] = {}
        self._others: list[tuple[int, IgnoreRule]] = []
        for number, line in enumerate(lines):
            rule = parse_rule(line)
            if rule is not None:
                alike = self._others if rule.name is None else self._named.setdefault(rule.name, [])
                alike.append((number, rule))
                if len(alike) > MAX_RULES:
                    self.over = True
                    self._named, self._others = {}, []
                    break

    def __bool__(self) -> bool:
        return bool(self._named or self._others)

    def decides(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """True if a path is left out; None where no rule is about it. path: by its parts, its folder's included."""
        below = path[len(self.folder) :]
        named = self._named.get(below[-1], ()) if below else ()
        rules = _last_matching(named, below, is_folder), _last_matching(self._others, below, is_folder)
        last = max((rule for rule in rules if rule is not None), key=lambda rule: rule[0], default=None)
        return None if last is None else not last[1].negated


def _last_matching(
    rules: Sequence[tuple[int, IgnoreRule]], path: Sequence[str], is_folder: bool
) -> tuple[int, IgnoreRule] | None:
    """The last of the rules that is about a path, with its number."""
    return next((rule for rule in reversed(rules) if rule[1].matches(path, is_folder)), None)


def is_left_out(lists: Sequence[IgnoreList], path: Sequence[str], is_folder: bool) -> bool:
    """True if a path is left out by rules, the stronger the later; the folders above it are not looked at."""
    for rules in reversed(lists):
        decided = rules.decides(path, is_folder)
        if decided is not None:
            return decided
    return False
