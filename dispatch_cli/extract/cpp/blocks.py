"""Registration blocks: where they are, and the statements in them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence

from dispatch_cli.extract.cpp.preprocessor.conditions import Decision, When, conjunction, joined, opposite
from dispatch_cli.extract.cpp.preprocessor.tokens import (
    CppToken,
    lex,
    partners,
    spelled,
    split,
)
from dispatch_cli.extract.cpp.registrations import Findings, is_under
from dispatch_cli.extract.cpp.scope import UnitScope
from dispatch_cli.extract.cpp.simple import (
    HEADED,
    PARTLY,
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
        if text in HEADED:
            end = whole(tokens, index, pairs)
            if not all(is_under(part, token.when) for part in tokens[index:end]):
                self._simple.refuse(tokens[index:end], PARTLY, when)
                return end, when, False
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


KINDS = {
    "TORCH_LIBRARY": LibraryKind.DEF,
    "TORCH_LIBRARY_FRAGMENT": LibraryKind.FRAGMENT,
    "TORCH_LIBRARY_IMPL": LibraryKind.IMPL,
}
_BRACE = re.compile(r"[{}]")
_NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b|=\s*\Z")
_CALLED = re.compile(r"[A-Za-z_]\w*\s*\(")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")
MAX_HEADER = 2000
"""Characters of the head of a function."""


def in_function(token: CppToken) -> bool:
    """True if a registration is in the body of a function."""
    source, offset = token.use or (token.source, token.offset)
    if source.bodies is None:
        source.bodies = list(_function_bodies(source.blanked))
    index = bisect_left(source.bodies, (offset, 0)) - 1
    return index >= 0 and offset < source.bodies[index][1]


def _function_bodies(blanked: str) -> Iterator[tuple[int, int]]:
    """The places of the braces around each function that is in no other one."""
    depth, outside, opening = 0, -1, 0
    for match in _BRACE.finditer(blanked):
        if match[0] == "{":
            if outside < 0 and _begins_function(blanked, match.start()):
                outside, opening = depth, match.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == outside:
                yield opening, match.start()
                outside = -1
    if outside >= 0:
        yield opening, len(blanked)


def _begins_function(blanked: str, brace: int) -> bool:
    begin = max(brace - MAX_HEADER, 0)
    start = max(begin - 1, *(blanked.rfind(mark, begin, brace) for mark in ";{}#"))
    header = blanked[start + 1 : brace]
    return _CALLED.search(header) is not None and _NOT_A_FUNCTION.search(header) is None


def function_head(token: CppToken) -> tuple[str, list[CppToken]] | None:
    """The name of the function in whose parameters *token* is, and the tokens from the ``(`` on. None elsewhere.

    A function that a macro makes is not looked at.
    """
    before = token.source.blanked[max(0, token.offset - 500) : token.offset]
    opening = before.rfind("(")
    if token.use is not None or opening < 0 or any(mark in before[opening + 1 :] for mark in ");{}"):
        return None
    name = _NAME.search(before, 0, opening)
    head = lex(token.source, token.offset - len(before) + opening, token.offset, token.when)
    return None if name is None else (name[1], list(head))


def made_block(
    kind: LibraryKind,
    token: CppToken,
    arguments: list[list[CppToken]],
    when: When,
    findings: Findings,
    ambiguous: Container[str],
) -> ExtractedBlock:
    """The block whose arguments are a namespace and a key. when: what holds beside the conditions of *token*.

    ambiguous: macros that stand for none.
    """
    written = "".join(part.text for part in arguments[0]) if arguments else ""
    namespace: str | Unknown = written
    if not written.isidentifier() or is_macro_like(written) or written in ambiguous:
        namespace = Unknown(spelled(tuple(arguments[0])) if arguments else "")
        findings.missing[written] += 1
    key = block_key(arguments[1]) if len(arguments) > 1 and arguments[1] else None
    if isinstance(key, str) and key in ambiguous:
        key = Unknown(key)
    if isinstance(key, Unknown):
        findings.missing[key.expression] += 1
    return ExtractedBlock(kind, namespace, key, token.at, joined(token.when, when))
