"""The one way out: whatever is printed or written goes through `printed`, however careful its writer was.

A terminal takes escape sequences as commands, and a reader does not see the characters that change the direction of a
text. A CI system takes lines of a job's output as commands (``::add-mask::x``, ``##[error]x``, ``##vso[…]``): GitHub's
runner those that begin with ``::`` after blanks, and ``##[`` anywhere (``ActionCommand.TryParseV2`` and ``TryParse``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from dispatch_cli.model.text.quoting import HARMFUL, escaped, has_harmful

_HELD_BACK = 64
_MOST = 1 << 20
_COLOR = r"\x1b\[[0-9;]*m"
_HARMFUL_OR_COLOR = f"{_COLOR}|{HARMFUL}"
"""Compiled, as `HARMFUL` is, when it is needed: most texts are plain."""
_BLANK = re.compile(rf"(?:[^\S\n]|{_COLOR})*")
"""Characters that may stand in a line before a command."""
_COMMAND = re.compile(rf"^((?:[^\S\n]|{_COLOR})*):(?=:)", re.MULTILINE)
_MARK = re.compile(r"##(?=[\w.-]{0,40}\[)")

UNENCODABLE = "backslashreplace"
"""Treatment of characters that the output cannot have: file names that are not text, signs in a narrow encoding."""

Kind = Literal["text", "data", "commands"]
"""Kind of output: ``text`` for people, or as PyTorch prints it, with harmful characters spelled out; ``data``, JSON
or YAML, where they are in quotes, as escapes; ``commands``, workflow commands of ours, a line each."""


def printed(chunks: Iterable[str], kind: Kind = "text", colored: bool = False) -> Iterator[str]:
    """The pieces of an output without anything that commands a terminal or a CI system.

    colored: whether the output has colours, which are left.
    """
    rest, at_start = "", True
    for chunk in chunks:
        rest += chunk
        end = rest.rfind("\n") + 1
        if not end and len(rest) > _MOST:
            end = len(rest) - _HELD_BACK
            end -= rest[end - 1] in "#:"  # two of these belong together
        if end:
            yield _clean(rest[:end], kind, colored, at_start)
            line = rest.rfind("\n", 0, end) + 1
            at_start = (at_start or line > 0) and _BLANK.fullmatch(rest, line, end) is not None
            rest = rest[end:]
    if rest:
        yield _clean(rest, kind, colored, at_start)


def _clean(text: str, kind: Kind, colored: bool, at_start: bool) -> str:
    """Lines without what is harmful. at_start: the text begins a line."""
    if kind == "data":
        return escaped(text)
    if colored:
        text = re.sub(_HARMFUL_OR_COLOR, lambda match: match[0] if len(match[0]) > 1 else _escaped(match), text)
    elif has_harmful(text):
        text = re.sub(HARMFUL, _escaped, text)
    if kind == "commands":
        return text
    if "#" in text:
        text = _MARK.sub(r"#\\x23", text)
    if "::" not in text:
        return text
    first = 0 if at_start else text.find("\n") + 1 or len(text)
    return text[:first] + _COMMAND.sub(r"\1\\x3a", text[first:])


def safe(text: str) -> str:
    """*text* with control, direction and invisible characters spelled out as escapes such as ``\\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(HARMFUL, _escaped, text).replace("\t", r"\t").replace("\n", r"\n")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def safe_lines(text: str) -> str:
    """Like `safe`, but line breaks stay."""
    return "\n".join(map(safe, text.split("\n")))
