"""Patterns that leave files out: lines of ``.gitignore``, and globs of options, which are read the same way.

The meaning is that of git (``gitignore(5)``, ``wildmatch.c``). No pattern takes more than the product of its length and
that of a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

MAX_PATTERN = 4096
"""Characters of one pattern; a longer one matches nothing."""
_POSIX = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"!-/:-@\[-`{-~", "space": r"\s",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_ANY_FOLDERS = None
"""The part ``**`` of a pattern."""
_NEVER = re.compile(r"(?!)")


class IgnoreRule(NamedTuple):
    """One pattern.

    parts: for each part of a path what it must match, None for ``**``. negated: what matches is not left out.
    folders_only: it is about folders. anywhere: it is about names at any depth.
    """

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    folders_only: bool
    anywhere: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether it is about a path, which is given by its parts below the pattern's own folder."""
        if self.folders_only and not is_folder:
            return False
        if self.anywhere:
            (only,) = self.parts
            return only is None or only.match(path[-1]) is not None
        return _match(self.parts, path)


def _match(parts: Sequence[re.Pattern[str] | None], path: Sequence[str]) -> bool:
    """Whether all parts match. The last ``**`` takes one part more where what follows it does not match."""
    at = now = 0
    retry: tuple[int, int] | None = None
    while now < len(path):
        if at < len(parts) and (part := parts[at]) is None:
            if at + 1 == len(parts):
                return True
            retry, at = (at, now), at + 1
        elif at < len(parts) and part is not None and part.match(path[now]) is not None:
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
    compiled = tuple(_ANY_FOLDERS if part == "**" and "/" in text else _part(part) for part in parts)
    return IgnoreRule(compiled, negated, folders_only, "/" not in text)


def _without_blanks(line: str) -> str:
    """Without blanks at the end, except one behind a backslash."""
    text = line.rstrip(" ")
    slashes = len(text) - len(text.rstrip("\\"))
    return text + " " if slashes % 2 and len(text) < len(line) else text


@lru_cache(maxsize=4096)
def _part(glob: str) -> re.Pattern[str]:
    """One part of a pattern, for ``match``: with all of the part of a path."""
    pieces: list[str] = [""]  # between the stars
    at = 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif sign == "?":
            pieces[-1] += "."
        elif sign == "[":
            found = _bracket(glob, at)
            if found is None:
                return _NEVER
            piece, at = found
            pieces[-1] += piece
        elif sign == "\\":
            if at == len(glob):
                return _NEVER
            pieces[-1] += re.escape(glob[at])
            at += 1
        else:
            pieces[-1] += re.escape(sign)
    first, *others = pieces
    if not others:
        return re.compile(rf"{first}\Z", re.DOTALL)
    *middle, last = others
    # each piece is taken where it is found first, and not looked for again
    found_first = "".join(f"(?=(?P<p{number}>.*?{piece}))(?P=p{number})" for number, piece in enumerate(middle))
    return re.compile(rf"{first}{found_first}.*{last}\Z", re.DOTALL)


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """The set behind ``[`` as a pattern, and where it ends; None where it does not end."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = True
    while True:
        sign = glob[at : at + 1]
        if not sign:
            return None
        if sign == "]" and not first:
            break
        first = False
        if glob.startswith("[:", at):
            end = glob.find(":]", at)
            name = glob[at + 2 : end] if end >= 0 else ""
            if name not in _POSIX:
                if end >= 0 and "]" not in name:
                    return None
                items.append(r"\[")
                at += 1
                continue
            items.append(_POSIX[name])
            at = end + 2
            continue
        low, at = _character(glob, at)
        if glob.startswith("-", at) and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _character(glob, at + 1)
            if low is None or high is None:
                return None
            if low <= high:
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        elif low is None:
            return None
        else:
            items.append(re.escape(low))
    text = "".join(items)
    if not text:
        return ("." if negated else "(?!)"), at + 1
    return f"[{'^' if negated else ''}{text}]", at + 1


def _character(glob: str, at: int) -> tuple[str | None, int]:
    if glob[at] != "\\":
        return glob[at], at + 1
    return (glob[at + 1], at + 2) if at + 1 < len(glob) else (None, at + 1)


class IgnoreList:
    """The rules of one file, the later the stronger. folder: where they hold, by the parts of its path."""

    def __init__(self, lines: Iterable[str], folder: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._rules = [rule for rule in map(parse_rule, lines) if rule is not None]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def decides(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """Whether a path is left out; None where no rule is about it. path: by its parts, its folder's included."""
        below = path[len(self.folder) :]
        for rule in reversed(self._rules):
            if rule.matches(below, is_folder):
                return not rule.negated
        return None


def is_left_out(lists: Sequence[IgnoreList], path: Sequence[str], is_folder: bool) -> bool:
    """Whether a path is left out by rules, the stronger the later; the folders above it are not looked at."""
    for rules in reversed(lists):
        decided = rules.decides(path, is_folder)
        if decided is not None:
            return decided
    return False
