"""The statements of a registration block: which are registrations, which are harmless, and what is not understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dispatch_cli.extract.cpp.brackets import partners, split
from dispatch_cli.extract.cpp.conditions import Decision, When, conjunction, joined, opposite, undecided
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
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.extract.work import OverWork

MAX_DEPTH = 40
"""Maximum depth of nested statements and calls of functions."""


CONDITION = 20
"""Units of work of each condition of a statement: whoever reads what is extracted looks at it several times."""


class BodyReader:
    """Reads the statements of one block. strict: statements without the library matter, too."""

    def __init__(
        self, library: LibraryVariable, findings: Findings, scope: UnitScope, build: When, strict: bool = True
    ) -> None:
        self._findings, self._build = findings, build
        self._block_when = library.block.when
        self._simple = SimpleStatements(library, findings, scope, self._statements, strict)
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
        self._check_one_condition(tokens, index, first)
        yes = self._branch(tokens[first:behind], when, decision, depth)
        no = False
        if behind < len(tokens) and tokens[behind].text == "else":
            end = whole(tokens, behind + 1, pairs)
            self._check_one_condition(tokens, behind, behind + 1)
            no = self._branch(tokens[behind + 1 : end], when, opposite(decision), depth)
            behind = end
        if yes and no:
            return behind, when, True
        if yes or no:
            rest = opposite(decision) if yes else decision
            return behind, when if isinstance(rest, bool) else joined(when, [rest]), rest is False
        return behind, when, False

    def _check_one_condition(self, tokens: Sequence[CppToken], header: int, statement: int) -> None:
        """``#if`` between ``if (x)`` and its statement: the branches are read one by one."""
        if statement < len(tokens) and not set(tokens[header].when) <= set(tokens[statement].when):
            self._findings.forks.update(undecided(tokens[header].when, {}))

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
        elements = elements_of(parts[1], self._simple.value) if variable is not None else None
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
