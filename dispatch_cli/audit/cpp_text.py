"""Statements in C++ text that look like registrations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from enum import Enum
from typing import NamedTuple

from dispatch_cli.audit.python_text import Unaccounted, blank, unaccounted

_HINT = re.compile(r"TORCH_LIBRARY|RegisterOperators|(?:\.|->)\s*(?:impl|def|fallback|op)\s*\(")
_DEFINE = re.compile(r"#[ \t]*define[ \t]+([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"#[ \t]*(?:define|undef|ifn?def)[ \t]+\w+")
_SKIPPED = re.compile(
    r"//[^\\\n]*(?:\\.[^\\\n]*)*"
    r"|/\*"
    r'|(?<!\w)(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\('
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|(?<![0-9a-fA-F])'[^'\\\n]*(?:\\.[^'\\\n]*)*'?",
    re.S,
)
_TOKEN = re.compile(
    r"(?P<directive>^[ \t]*#[ \t]*(?P<word>\w*)[^\n]*)"
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<end>;)"
    r"|(?P<what>\b(?=\w*TORCH_LIBRARY)\w+(?=\s*\()|\bRegisterOperators\b|(?:\.|->)\s*(?:impl|def|fallback|op)(?=\s*\((?!\s*\))))",
    re.M,
)
_BINDINGS = (
    r"\b(?:py|pybind11|nb|nanobind)\s*::|\bmodule_\s*&|PYBIND11|NB_MODULE"
    r"|TVM_FFI_|\b(?:Object|Global)Def\s*[<(]"
)
_OTHER_REGISTRIES = re.compile(rf"{_BINDINGS}|\b\w*class_\s*[<(]|\benum_\s*<|\bjit\s*::\s*RegisterOperators\b")
"""Beginnings of statements and blocks that register elsewhere: with pybind11, nanobind or TVM, or a class for
TorchScript."""
_BINDING = re.compile(_BINDINGS)
_DISPATCHERS = re.compile(r"TORCH_LIBRARY|\bLibrary\s*[&(]|\bRegisterOperators\b")
_MODULE = re.compile(
    r"\b(?:py|pybind11|nb|nanobind)\s*::\s*(?:module_?|class_)\b[\s&]*([A-Za-z_]\w*)"
    r"|\bauto\b[\s&]*(?:[A-Z_]{3,}\s+)?([A-Za-z_]\w*)\s*="
    r"[^;{}]{0,200}?(?:\b(?:py|pybind11|nb|nanobind)\s*::|\bdef_submodule\b|\bclass_\b)"
)
"""Variables that one of those owns."""
_WITH_SCHEMA = re.compile(r'(?:\s|\\\n)*\((?:\s|\\\n)*R?"[^"\n]*\(')
"""The argument of a ``def`` of the dispatcher's: a schema."""
_PLAIN_NAME = re.compile(r'\s*\((?:"[^"(\n]*"|#[ \t]*\w+|\s|\\\n)+,')
"""The argument of a ``def`` that has no schema, as in other registries."""
_WITH_DOC = re.compile(r'\s*\(\s*"[^"(\n]*",\s*&?[\w:<>]+,\s*"')
"""The arguments of a ``def`` of pybind11's: a name, a function and a text about it."""
_RECEIVER = re.compile(r"([A-Za-z_]\w*)\s*$")
_JIT = re.compile(r"\bnamespace\s+(?:torch\s*::\s*)?jit\b")
_OWN_CLASS = re.compile(r"\b(?:class|struct)\b[^;{(]{0,80}\bRegisterOperators\b[^;(]{0,80}\{")
_QUALIFIED = re.compile(r"(?:torch|c10)\s*::\s*$")
_OBJECT = re.compile(r"RegisterOperators\s*(?:[A-Za-z_]\w*\s*[({;=]|[({])")
_BLANKS = re.compile(r"\s*")
_DECLARED = re.compile(r"\b(?:class|struct|using|friend)\b[\w\s]*$|~\s*$|\bRegisterOperators\s*::\s*$")
_BLANKS_BEHIND = re.compile(r"\\[ \t\f\v]+$", re.M)
_SPLIT_WORD = re.compile(r"\\\n(?:(?<=\w..)(?=\w)|(?<=:..)(?=:)|(?<=-..)(?=>)|(?<=/..)(?=[/*]))", re.S)
"""A backslash at the end of a line in the middle of a word or mark; it comes first, as it is rare."""
SPLIT = "\\"
"""The `what` of a place where a word goes on on the next line: such words are not read."""
MAX_HEAD = 400
"""Characters of the beginning of a statement that are looked at."""


class CppPlaces(NamedTuple):
    """direct: those outside macros. in_macros: those in a ``#define``, with the macro's name."""

    direct: list[Unaccounted]
    in_macros: list[tuple[str, Unaccounted]]


class _Owner(Enum):
    """Owner of the registry in which the text in a bracket registers."""

    DISPATCHER = "the dispatcher's"
    OTHER = "pybind11's, nanobind's, TVM's or TorchScript's"
    OPEN = "not known"


class _Level:
    """A bracket that is open. statement: the start of the statement that it belongs to. owner: whose it is, once
    asked.
    """

    __slots__ = ("outer", "owner", "statement")

    def __init__(self, statement: int, outer: _Level | None) -> None:
        self.statement = statement
        self.outer = outer
        self.owner: _Owner | None = None if outer is not None else _Owner.OPEN


def may_register(text: str) -> bool:
    """True if the text has any of the words, be it in comments, or a word that goes on on the next line."""
    return _HINT.search(text) is not None or _SPLIT_WORD.search(text) is not None


def continued(text: str) -> str:
    """The text without blanks behind the backslashes at the ends of lines, which compilers pass over, too."""
    return _BLANKS_BEHIND.sub(r"\\", text) if "\\" in text else text


def used_macros(text: str, macros: set[str]) -> set[str]:
    """Those of some macros that a text uses, by whatever registry they register."""
    if macros.isdisjoint(_WORD.findall(text)):
        return set()
    code = _DEFINED.sub("#define", without_literals(text))
    return set(macros.intersection(_WORD.findall(code)))


def places(file: str, text: str, accounted: frozenset[tuple[str, int]]) -> CppPlaces:
    """The statements that look like registrations, except those on *accounted* lines."""
    result = CppPlaces([], [])
    code = without_literals(text)
    lines = text.split("\n")
    starts = [0, *(end.end() for end in re.finditer("\n", code))]
    is_jit = _JIT.search(code) is not None or _OWN_CLASS.search(code) is not None
    registers = "RegisterOperators" in code and not _OWN_CLASS.search(code)
    for split in _SPLIT_WORD.finditer(code):
        line = bisect_right(starts, split.start())
        result.direct.append(unaccounted(file, line, split.start() - starts[line - 1] + 1, SPLIT, lines))
    for start, what, macro in _Scanner(code, text).run():
        if what == "RegisterOperators" and not _constructs(code, start, is_jit):
            continue
        if "EXECUTORCH" in what or (what.endswith("op") and not registers):
            continue
        name = what.lstrip(".-> \t\n\r")
        at = start + len(what) - len(name)
        line = bisect_right(starts, at)
        if (file, line) in accounted:
            continue
        place = unaccounted(file, line, at - starts[line - 1] + 1, name, lines)
        if macro is None:
            result.direct.append(place)
        else:
            result.in_macros.append((macro, place))
    return result


def _constructs(code: str, start: int, is_jit: bool) -> bool:
    """True if this ``RegisterOperators`` makes an object, of the dispatcher's class: TorchScript has one, too."""
    before = code[max(start - 60, 0) : start]
    if _DECLARED.search(before) or (is_jit and not _QUALIFIED.search(before)):
        return False
    return _OBJECT.match(code, start) is not None


class _Scanner:
    """Goes through code without literals and comments once, and keeps the brackets that are open.

    text: with literals and comments.
    """

    def __init__(self, code: str, text: str) -> None:
        self.code, self.text = code, text
        self.has_bindings = _BINDING.search(code) is not None
        self.modules = {first or second for first, second in _MODULE.findall(code)}
        self.others = [match.span() for match in _OTHER_REGISTRIES.finditer(code)]
        self.dispatchers = [match.span() for match in _DISPATCHERS.finditer(code)]
        self.level = _Level(0, None)
        self.statement = 0
        """Start of the current statement."""
        self.by_head: dict[int, _Owner | None] = {}
        self.branches: list[tuple[_Level, int]] = []
        """State at each ``#if`` that has not ended: each of its branches begins with that."""

    def run(self) -> list[tuple[int, str, str | None]]:
        """Place, text and macro (None outside of ``#define``) of each candidate."""
        candidates = []
        position = 0
        code = self.code
        macro: str | None = None
        macro_end = 0
        outside = (self.level, self.statement)
        while (token := _TOKEN.search(code, position)) is not None:
            position = token.end()
            if macro is not None and token.start() >= macro_end:
                macro = None
                self.level, self.statement = outside
            if token["directive"] is not None:
                if token["word"] == "define" and (name := _DEFINE.search(token[0])):
                    macro_end = end_of_directive(code, token.start()) if macro is None else macro_end
                    macro = name[1]
                    is_between = _BLANKS.fullmatch(code, self.statement, token.start()) is not None
                    outside = (self.level, macro_end if is_between else self.statement)
                    position = token.start() + name.end()
                    self.level, self.statement = _Level(position, None), position
                else:
                    position = macro_end if macro is not None else end_of_directive(code, token.start())
                    self._branch(token["word"])
                    if _BLANKS.fullmatch(code, self.statement, token.start()):
                        self.statement = position
            elif token["what"] is not None:
                if self._is_candidate(token, macro is not None):
                    candidates.append((token.start(), token[0], macro))
            else:
                self._bracket(token)
        return candidates

    def _bracket(self, token: re.Match[str]) -> None:
        if token["open"] is not None:
            self.level = _Level(self.statement, self.level)
            if token[0] != "[":
                self.statement = token.end()
        elif token["close"] is not None:
            if self.level.outer is not None:
                self.statement, self.level = self.level.statement, self.level.outer
            if token[0] == "}":
                self.statement = token.end() if self._ends_statement(token.end()) else self.statement
        else:
            self.statement = token.end()

    def _ends_statement(self, position: int) -> bool:
        """True if a statement is over after the ``}`` before *position*: it does not go on as a lambda would."""
        after = self.code[position : position + 40].lstrip()
        return not after.startswith((")", ",", ".", "(", ";", "->"))

    def _owner(self) -> _Owner:
        """Owner of the registry of the current statement: by its own beginning, else by what it is in."""
        return self._owner_by_head(self.statement) or self._owner_of(self.level)

    def _owner_of(self, level: _Level) -> _Owner:
        """Owner of a bracket; those outside of it are asked once."""
        asked = []
        while level.owner is None and self._owner_by_head(level.statement) is None:
            asked.append(level)
            assert level.outer is not None, "the outermost one has an owner"
            level = level.outer
        owner = level.owner = level.owner or self._owner_by_head(level.statement) or _Owner.OPEN
        for inner in asked:
            inner.owner = owner
        return owner

    def _owner_by_head(self, statement: int) -> _Owner | None:
        if statement not in self.by_head:
            self.by_head[statement] = self._read_head(statement)
        return self.by_head[statement]

    def _read_head(self, statement: int) -> _Owner | None:
        blanks = _BLANKS.match(self.code, statement)
        start = blanks.end() if blanks else statement
        end = self.code.find(";", start, start + MAX_HEAD)
        end = min(start + MAX_HEAD, len(self.code)) if end == -1 else end
        if is_within(self.others, start, end):
            return _Owner.OTHER
        return _Owner.DISPATCHER if is_within(self.dispatchers, start, end) else None

    def _is_candidate(self, token: re.Match[str], in_macro: bool) -> bool:
        owner = self._owner()
        if owner is not _Owner.OPEN or not token["what"].startswith((".", "-")):
            return owner is not _Owner.OTHER
        if in_macro:  # its variables are those of the place where it is used
            others = self.has_bindings and not self.dispatchers and not _WITH_SCHEMA.match(self.text, token.end())
            return not (token["what"].endswith("def") and (others or _PLAIN_NAME.match(self.text, token.end())))
        if token["what"].endswith("def") and _WITH_DOC.match(self.text, token.end()):
            return False
        receiver = _RECEIVER.search(self.code, max(token.start() - 80, 0), token.start())
        if receiver is not None and receiver[1] in self.modules:
            return False
        if not (self.has_bindings and token["what"].endswith("def")):
            return True
        if receiver is not None and self.dispatchers:
            return True
        return _WITH_SCHEMA.match(self.text, token.end()) is not None

    def _branch(self, word: str) -> None:
        if word.startswith("if"):
            self.branches.append((self.level, self.statement))
        elif word.startswith("el") and self.branches:
            self.level, self.statement = self.branches[-1]
        elif word == "endif" and self.branches:
            self.branches.pop()


def without_literals(text: str) -> str:
    """The text with blanks in place of comments and literals, which keep their first quote; lines and columns stay."""
    parts: list[str] = []
    position = 0
    while (skipped := _SKIPPED.search(text, position)) is not None:
        start, end = skipped.span()
        if skipped[0] == "/*":
            end = after(text, "*/", end)
        elif skipped["delimiter"] is not None:
            end = after(text, f'){skipped["delimiter"]}"', end)
        if skipped[0][0] != "/":  # a call with a literal has an argument
            start = text.index("'" if skipped[0][0] == "'" else '"', start) + 1
        parts += [text[position:start], blank_but_continued(text[start:end])]
        position = end
    return "".join([*parts, text[position:]])


def is_within(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """True if one of the spans, which are in order, is in that part."""
    index = bisect_left(spans, (start, start))
    return index < len(spans) and spans[index][1] <= end


def end_of_directive(code: str, position: int) -> int:
    """End of a directive, which goes on over lines with a backslash at their end."""
    while True:
        end = code.find("\n", position)
        if end == -1:
            return len(code)
        if not code[max(end - 2, position) : end].rstrip("\r").endswith("\\"):
            return end
        position = end + 1


def after(text: str, closing: str, position: int) -> int:
    """The place behind the next *closing*; the end of the text where there is none."""
    end = text.find(closing, position)
    return len(text) if end == -1 else end + len(closing)


def blank_but_continued(text: str) -> str:
    """Blanks; the backslashes at ends of lines stay, as a ``#define`` goes on with them."""
    if "\\\n" not in text:
        return blank(text)
    return "\n".join(
        " " * (len(line) - 1) + "\\" if line.endswith("\\") else " " * len(line) for line in text.split("\n")
    )
