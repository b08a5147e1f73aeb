"""Registration blocks: where they are, and the statements in them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from dispatch_cli.extract.cpp.preprocessor.conditions import Decision, When, conjunction, joined, opposite
from dispatch_cli.extract.cpp.preprocessor.tokens import (
    CppToken,
    SourceText,
    lex,
    partners,
    spelled,
    split,
)
from dispatch_cli.extract.cpp.registrations import Findings
from dispatch_cli.extract.cpp.scope import UnitScope
from dispatch_cli.extract.cpp.simple import (
    LibraryVariable,
    SimpleStatements,
    decision_of,
    elements_of,
    end_of,
    extent,
    substitute,
    whole,
)
from dispatch_cli.extract.cpp.values import block_key, is_macro_like
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import Atom
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import ExtractedBlock, Unknown

MAX_DEPTH = 40
"""Maximum depth of nested statements and calls of functions."""


CONDITION = 20
"""Units of work of each condition of a statement: whoever reads what is extracted looks at it several times."""


class BodyReader:
    """Reads the statements of one block."""

    def __init__(self, library: LibraryVariable, findings: Findings, scope: UnitScope, build: When) -> None:
        self._findings, self._build = findings, build
        self._block_when = library.block.when
        self._simple = SimpleStatements(library, findings, scope, self._statements)
        self._work = scope.work

    def read(self, tokens: Sequence[CppToken]) -> None:
        """Read the statements between the braces."""
        self._statements(list(tokens), self._build, 0)

    # ---- statements

    def _statements(self, tokens: list[CppToken], when: When, depth: int) -> bool:
        """Read statements one by one. Returns true if the code after them is never reached."""
        pairs = partners(tokens)
        self._work.spend(len(tokens) + 1)
        if pairs is None:
            self._simple.refuse(tokens, "its brackets do not match", when)
            return False
        if depth > MAX_DEPTH:
            self._simple.refuse(tokens, f"statements nest more than {MAX_DEPTH} deep", when, bound=True)
            return False
        index = 0
        while index < len(tokens):
            self._work.spend(1 + CONDITION * (len(when) + len(tokens[index].when)))
            try:
                index, left, ends = self._statement(tokens, index, pairs, when, depth)
            except OverWork as error:
                error.at = error.at or tokens[index].at
                raise
            if ends:
                return True
            when = left
        return False

    def _statement(
        self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int
    ) -> tuple[int, When, bool]:
        """Read one statement. Returns the start of the next, the conditions there, and true if it is never reached."""
        token = tokens[index]
        text = token.text
        if text == ";":
            return index + 1, when, False
        if text == "{" and token.kind == "mark":
            end = pairs[index]
            ended = self._statements(tokens[index + 1 : end], when, depth + 1)
            return end + 1, when, ended
        if text == "if":
            return self._if(tokens, index, pairs, when, depth)
        if text == "for":
            return self._for(tokens, index, pairs, when, depth), when, False
        if text in ("while", "switch", "do", "try", "catch"):
            return self._compound(tokens, index, pairs, when), when, False
        if text == "return":
            end = end_of(tokens, index, pairs)
            self._simple.read(tokens[index + 1 : end], when, depth)
            own = [condition for condition in token.when if condition not in self._block_when and condition not in when]
            rest = opposite(conjunction(own))
            return end + 1, when if isinstance(rest, bool) else joined(when, [rest]), not own
        end = end_of(tokens, index, pairs)
        self._simple.read(tokens[index:end], when, depth)
        return end + 1, when, False

    def _if(
        self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int
    ) -> tuple[int, When, bool]:
        opening = index + 1
        while opening < len(tokens) and tokens[opening].text in ("constexpr", "!", "consteval"):
            opening += 1
        if opening >= len(tokens) or tokens[opening].text != "(":
            end = extent(tokens, index, pairs)
            self._simple.refuse(tokens[index:end], "this 'if' has no condition", when)
            return end, when, False
        decision = decision_of(tokens[opening + 1 : pairs[opening]], self._simple.local)
        first = pairs[opening] + 1
        behind = whole(tokens, first, pairs)
        yes = self._branch(tokens[first:behind], when, decision, depth)
        no = False
        if behind < len(tokens) and tokens[behind].text == "else":
            end = whole(tokens, behind + 1, pairs)
            no = self._branch(tokens[behind + 1 : end], when, opposite(decision), depth)
            behind = end
        if yes and no:
            return behind, when, True
        if yes or no:
            rest = opposite(decision) if yes else decision
            return behind, when if isinstance(rest, bool) else joined(when, [rest]), rest is False
        return behind, when, False

    def _branch(self, tokens: list[CppToken], when: When, decision: Decision, depth: int) -> bool:
        if decision is False or not tokens:
            self._findings.account(tokens)
            return False
        return self._statements(tokens, when if decision is True else joined(when, [decision]), depth + 1)

    def _for(self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int) -> int:
        opening = index + 1
        end = extent(tokens, index, pairs)
        if opening >= len(tokens) or tokens[opening].text != "(":
            self._simple.refuse(tokens[index:end], "this 'for' is malformed", when)
            return end
        header = tokens[opening + 1 : pairs[opening]]
        statement = tokens[pairs[opening] + 1 : end]
        if not self._simple.mentions(statement):
            return end
        parts = split(header, ":")
        variable = parts[0][-1] if len(parts) == 2 and parts[0] and parts[0][-1].kind == "name" else None
        elements = elements_of(parts[1], self._simple.local) if variable is not None else None
        if elements is None or variable is None:
            self._simple.refuse(tokens[index:end], "the list that this loop runs over is not known", when)
            return end
        for element in elements:
            self._statements(substitute(statement, {variable.text: element}, self._work), when, depth + 1)
        return end

    def _compound(self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When) -> int:
        """A loop, a ``switch`` or a ``try``: what it registers is not followed."""
        end = extent(tokens, index, pairs)
        if self._simple.mentions(tokens[index:end]):
            self._simple.refuse(tokens[index:end], f"registrations in a '{tokens[index].text}' are not followed", when)
        return end


_BRACE = re.compile(r"[{}]")
_NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b|=\s*\Z")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")
MAX_HEADER = 2000
"""Characters of the head of a function."""
KINDS = {
    "TORCH_LIBRARY": LibraryKind.DEF,
    "TORCH_LIBRARY_FRAGMENT": LibraryKind.FRAGMENT,
    "TORCH_LIBRARY_IMPL": LibraryKind.IMPL,
}
_TESTS = frozenset(
    {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P", "GTEST_TEST", "TEST_CASE", "TEST_CASE_METHOD"}
)
"""Macros of GoogleTest and Catch2 that begin the body of a test."""


def enclosing_function(text: SourceText, offset: int) -> str | None:
    """The name of the outermost function around a place; None at file scope."""
    if text.braces is None:
        text.braces = _Braces(text.blanked)
    function: str | None = text.braces.function_at(offset)
    return function


class _Braces:
    """The braces of a text, and the outermost function around each place: looked for once for all blocks in it."""

    def __init__(self, blanked: str) -> None:
        self._places: list[int] = []
        self._functions: list[str | None] = []
        """The function around what is behind each brace."""
        around: list[str | None] = [None]
        for match in _BRACE.finditer(blanked):
            if match[0] == "{":
                around.append(around[-1] or _function_before(blanked, match.start()))
            elif len(around) > 1:
                around.pop()
            self._places.append(match.start())
            self._functions.append(around[-1])

    def function_at(self, offset: int) -> str | None:
        index = bisect_left(self._places, offset)
        return self._functions[index - 1] if index else None


def _function_before(blanked: str, brace: int) -> str | None:
    """The function that an opening brace begins."""
    begin = max(brace - MAX_HEADER, 0)
    start = max(begin - 1, *(blanked.rfind(mark, begin, brace) for mark in ";{}#"))
    header = blanked[start + 1 : brace]
    called = _CALLED.search(header)
    return called[1] if called is not None and _NOT_A_FUNCTION.search(header) is None else None


def function_head(token: CppToken) -> tuple[str, list[CppToken]] | None:
    """The name of the function in whose parameters *token* is, and the tokens from the ``(`` on. None elsewhere.

    A function that a macro makes is not looked at.
    """
    place = _parameter_list(token.source, token.offset) if token.use is None else None
    if place is None:
        return None
    name, opening = place
    return name, list(lex(token.source, opening, token.offset))


def _parameter_list(text: SourceText, offset: int) -> tuple[str, int] | None:
    before = text.blanked[max(0, offset - 500) : offset]
    opening = before.rfind("(")
    if opening < 0 or any(mark in before[opening + 1 :] for mark in ");{}"):
        return None
    name = _NAME.search(before, 0, opening)
    return None if name is None else (name[1], offset - len(before) + opening)


def made_block(
    kind: LibraryKind, token: CppToken, arguments: list[list[CppToken]], when: When, findings: Findings
) -> ExtractedBlock:
    """The block whose arguments are a namespace and a key. when: what holds beside the conditions of *token*."""
    written = "".join(part.text for part in arguments[0]) if arguments else ""
    namespace: str | Unknown = written
    if not written.isidentifier() or is_macro_like(written):
        namespace = Unknown(spelled(tuple(arguments[0])) if arguments else "")
        findings.missing[written] += 1
    key = block_key(arguments[1]) if len(arguments) > 1 and arguments[1] else None
    if isinstance(key, Unknown):
        findings.missing[key.expression] += 1
    return ExtractedBlock(kind, namespace, key, token.at, joined(token.when, when))


def in_test(token: CppToken) -> bool:
    """True if a registration stands in the body of a test, such as ``TEST(Suite, name) {...}``."""
    source, offset = token.use or (token.source, token.offset)
    return enclosing_function(source, offset) in _TESTS


def when_called(token: CppToken) -> When:
    """Condition that the function around a registration is called."""
    source, offset = token.use or (token.source, token.offset)
    function = enclosing_function(source, offset)
    return () if function is None else (Atom(f"{function} is called"),)
