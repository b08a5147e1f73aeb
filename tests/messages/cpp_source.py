"""The errors and warnings of C++ headers: the strings that the macros for them are given, joined by holes."""

from __future__ import annotations

import re
from collections.abc import Iterator

MACROS = {
    "TORCH_CHECK": 1,
    "TORCH_CHECK_WITH": 2,
    "TORCH_CHECK_NOT_IMPLEMENTED": 1,
    "TORCH_CHECK_VALUE": 1,
    "TORCH_CHECK_TYPE": 1,
    "TORCH_CHECK_INDEX": 1,
    "TORCH_CHECK_LINALG": 1,
    "TORCH_INTERNAL_ASSERT": 1,
    "TORCH_INTERNAL_ASSERT_DEBUG_ONLY": 1,
    "TORCH_WARN": 0,
    "TORCH_WARN_ONCE": 0,
    "TORCH_WARN_DEPRECATION": 0,
    "TORCH_WARN_WITH": 1,
    "C10_THROW_ERROR": 1,
    "AT_ERROR": 0,
    "runtime_error": 0,
    "TypeError": 0,
}
"""Each with the number of arguments before the text."""
_CALL = re.compile(rf"\b({'|'.join(MACROS)})\s*\(")
_TOKEN = re.compile(
    r"""R"\((?P<raw>[\s\S]*?)\)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\]|\\.)'|//[^\n]*|/\*[\s\S]*?\*/|(?P<sign>[(){}\[\],;])"""
)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}
MAX_ARGUMENTS = 20_000
"""Characters of a macro's arguments."""


def messages(source: str) -> Iterator[str]:
    """The template of each text; ``{}`` stands for an argument that is no string."""
    for call in _CALL.finditer(source):
        template = _template(source[call.end() : call.end() + MAX_ARGUMENTS], MACROS[call[1]])
        if template.strip("{} "):
            yield template


def _template(rest: str, skipped: int) -> str:
    depth, argument, last = 0, 0, 0
    parts: list[list[str]] = [[]]
    for token in _TOKEN.finditer(rest):
        if rest[last : token.start()].strip():
            parts[-1].append("")
        last = token.end()
        sign = token["sign"]
        if sign in ("(", "{", "["):
            depth += 1
            parts[-1].append("")
        elif sign in (")", "}", "]"):
            depth -= 1
            if depth < 0:
                break
        elif sign == "," and depth == 0:
            argument += 1
            parts.append([])
        elif sign == ";" and depth == 0:
            break
        elif depth == 0 and (token["text"] is not None or token["raw"] is not None):
            parts[-1].append(token["raw"] if token["text"] is None else _unescaped(token["text"]))
    return "".join("".join(part) if part and all(part) else "{}" for part in parts[skipped:] if part)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)
