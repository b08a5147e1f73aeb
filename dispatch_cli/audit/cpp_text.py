"""Statements in C++ text that look like registrations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from dispatch_cli.audit.python_text import Unaccounted, unaccounted

_HINT = re.compile(r"TORCH_LIBRARY|RegisterOperators|(?:\.|->)\s*(?:impl|def|fallback|op)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"#[ \t]*(?:define|undef|ifn?def)[ \t]+\w+")
_SKIPPED = re.compile(
    r"//[^\\\n]*(?:\\.[^\\\n]*)*"
    r"|/\*(?:.*?\*/|.*)"
    r'|(?<!\w)(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\((?:.*?\)(?P=delimiter)"|.*)'
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|(?<![0-9a-fA-F])'[^'\\\n]*(?:\\.[^'\\\n]*)*'?",
    re.S,
)
_TOKEN = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>[A-Za-z_]\w*)"
    r'|(?P<call>\b(?=\w*TORCH_LIBRARY)\w+(?=\s*\()|\bRegisterOperators(?=\s*(?:\w+\s*)?[({]\s*(?:[)}]\s*\.|R?"))'
    r"|(?:\.|->)\s*(?:impl|def|fallback|op)(?=\s*\((?!\s*\))))",
    re.M,
)
_DIRECTIVE = re.compile(r"(?:.*\\\n)*.*")
"""A directive goes on over lines with a backslash at their end."""
_BINDINGS = re.compile(
    r"(?:py|pybind11|nb|nanobind)\s*::|PYBIND11|NB_MODULE|TVM_FFI_|(?:Object|Global)Def\s*[<(]|class_\s*[<(]|enum_\s*<"
    r'|\bdef\s*\(\s*"\s*,\s*&?[\w:]+\s*,\s*"'  # a text about a function
)
"""Signs that a file registers with pybind11, nanobind or TVM, or a class for TorchScript: these have ``def``, too."""
_WITH_SCHEMA = re.compile(r'(?:\s|\\\n)*\((?:\s|\\\n)*R?"[^"\n]*\(')
"""The argument of a ``def`` of the dispatcher's: a schema."""
_WITH_NAME = re.compile(r'\s*\(\s*R?"')
_OF_PYTORCH = re.compile(r"torch|TORCH|c10|Library")
_BLANKS_BEHIND = re.compile(r"\\[ \t\f\v]+$", re.M)


def may_register(text: str) -> bool:
    """True if the text has any of the words, be it in comments."""
    return _HINT.search(text) is not None


def continued(text: str) -> str:
    """The text without blanks behind the backslashes at the ends of lines, which compilers pass over, too."""
    return _BLANKS_BEHIND.sub(r"\\", text) if "\\" in text else text


def used_macros(text: str, macros: set[str]) -> set[str]:
    """Those of some macros that a text uses, unless it has only bindings of other registries."""
    if macros.isdisjoint(_WORD.findall(text)):
        return set()
    code = _DEFINED.sub("#define", without_literals(text))
    if _BINDINGS.search(code) is not None and _OF_PYTORCH.search(code) is None:
        return set()
    return set(macros.intersection(_WORD.findall(code)))


def places(file: str, text: str) -> Iterator[tuple[str, Unaccounted]]:
    """The statements that look like registrations, each with the macro in whose ``#define`` it is, or an empty text."""
    code = without_literals(text)
    lines = text.split("\n")
    starts = [0, *(end.end() for end in re.finditer("\n", code))]
    registry = _Registry(code, text)
    macro, macro_end = "", 0
    for token in _TOKEN.finditer(code):
        if token["macro"] is not None:
            if token.start() >= macro_end:
                directive = _DIRECTIVE.match(code, token.start())
                macro, macro_end = token["macro"], directive.end() if directive else 0
            continue
        in_macro = token.start() < macro_end
        name = token["call"].lstrip(".-> \t\n\r")
        at = token.end() - len(name)
        line = bisect_right(starts, at)
        if registry.may_have(token, name, in_macro):
            yield macro if in_macro else "", unaccounted(file, line, at - starts[line - 1] + 1, name, lines)


class _Registry:
    """The registries of a file, as far as its words say which it uses. text: with literals and comments."""

    def __init__(self, code: str, text: str) -> None:
        self._text = text
        self._has_bindings = _BINDINGS.search(code) is not None
        self._names_pytorch = _OF_PYTORCH.search(code) is not None
        self._has_operators = "RegisterOperators" in code

    def may_have(self, call: re.Match[str], name: str, in_macro: bool) -> bool:
        """True if a call may be one of PyTorch's dispatcher."""
        if name == "op":
            return self._has_operators
        if name in ("impl", "fallback"):  # other classes have such methods, too
            return self._names_pytorch or in_macro or _WITH_NAME.match(self._text, call.end()) is not None
        if name != "def":
            return "EXECUTORCH" not in name
        return not self._has_bindings or _WITH_SCHEMA.match(self._text, call.end()) is not None


def without_literals(text: str) -> str:
    """The text with blanks in place of comments, a quote and blanks for literals; lines and columns stay."""
    return _SKIPPED.sub(_blank, text)


def _blank(skipped: re.Match[str]) -> str:
    """The backslashes at ends of lines stay, as a ``#define`` goes on with them."""
    quote = "" if skipped[0].startswith("/") else '"'  # a call with a literal has an argument
    lines = skipped[0][len(quote) :].split("\n")
    return quote + "\n".join(" " * (len(line) - 1) + "\\" if line.endswith("\\") else " " * len(line) for line in lines)
