"""The statements of a registration block: which are registrations, which are harmless, and what is not understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from dispatch_cli.extract.cpp.brackets import inside, partners, split
from dispatch_cli.extract.cpp.context import When, facts, joined, undecided
from dispatch_cli.extract.cpp.control import decision_of, elements_of, end_of, extent, initialised, substitute, whole
from dispatch_cli.extract.cpp.findings import Findings, same_conditions
from dispatch_cli.extract.cpp.if_expression import Decision, opposite
from dispatch_cli.extract.cpp.registrations import Registrar
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.model.extracted import ExtractedBlock

MAX_DEPTH = 40
"""How deeply statements and calls of functions may nest."""
MAX_STATEMENTS = 200_000
"""Statements of one translation unit, those of loops and functions counted each time."""
_HARMLESS = frozenset(
    {"TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "TORCH_WARN", "TORCH_WARN_ONCE", "STD_TORCH_CHECK", "AT_ASSERT", "LOG"}
    | {"AT_ASSERTM", "C10_LOG_API_USAGE_ONCE", "C10_UNUSED", "UNUSED", "TORCH_CHECK_NOT_IMPLEMENTED", "CHECK", "DCHECK"}
)


class LibraryVariable(NamedTuple):
    """A ``torch::Library`` in a scope: its name there, and its block."""

    name: str
    block: ExtractedBlock


class LibraryFunction(NamedTuple):
    """A function, or a lambda, that takes a library. parameters: their names. body: its statements."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[CppToken, ...]


class FileScope(Protocol):
    """Where the functions of a unit are found."""

    def function(self, name: str) -> LibraryFunction | None:
        """The function of that name that takes a library."""

    def value(self, name: str) -> Sequence[CppToken] | None:
        """The expression that a constant of the file has as its value."""


class BodyReader:
    """Reads the statements of one block."""

    def __init__(self, library: LibraryVariable, findings: Findings, functions: FileScope, build: When = ()) -> None:
        self._library, self._findings, self._functions, self._build = library, findings, functions, build
        self._values: dict[str, Sequence[CppToken]] = {}
        self._lambdas: dict[str, LibraryFunction] = {}
        self._steps = 0

    def read(self, tokens: Sequence[CppToken]) -> None:
        """Read the statements between the braces."""
        self._statements(list(tokens), self._build, 0)

    # ---- statements

    def _statements(self, tokens: list[CppToken], when: When, depth: int) -> bool:
        """Read statements one by one. Returns whether what follows them is never reached."""
        pairs = partners(tokens)
        if pairs is None:
            self._refuse(tokens, "its brackets do not match", when)
            return False
        if depth > MAX_DEPTH:
            self._refuse(tokens, f"statements nest more than {MAX_DEPTH} deep", when)
            return False
        index = 0
        while index < len(tokens):
            self._steps += 1
            if self._steps > MAX_STATEMENTS:
                self._refuse(tokens[index:], f"there are more than {MAX_STATEMENTS:,} statements", when)
                return True
            index, left, ends = self._statement(tokens, index, pairs, when, depth)
            if ends:
                return True
            when = left
        return False

    def _statement(
        self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int
    ) -> tuple[int, When, bool]:
        """Read one statement. Returns where the next begins, what holds there, and whether it is never reached."""
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
            return self._compound(tokens, index, pairs, when, depth), when, False
        if text == "return":
            end = end_of(tokens, index, pairs)
            self._simple(tokens[index + 1 : end], when, depth)
            return end + 1, when, not token.when or set(token.when) <= set(when)
        end = end_of(tokens, index, pairs)
        self._simple(tokens[index:end], when, depth)
        return end + 1, when, False

    def _if(
        self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int
    ) -> tuple[int, When, bool]:
        opening = index + 1
        while opening < len(tokens) and tokens[opening].text in ("constexpr", "!", "consteval"):
            opening += 1
        if opening >= len(tokens) or tokens[opening].text != "(":
            end = extent(tokens, index, pairs)
            self._refuse(tokens[index:end], "this 'if' has no condition", when)
            return end, when, False
        decision = decision_of(tokens[opening + 1 : pairs[opening]], self._values.get)
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
            self._refuse(tokens[index:end], "this 'for' is malformed", when)
            return end
        header = tokens[opening + 1 : pairs[opening]]
        statement = tokens[pairs[opening] + 1 : end]
        if not self._mentions(statement):
            return end
        parts = split(header, ":")
        variable = parts[0][-1] if len(parts) == 2 and parts[0] else None
        elements = elements_of(parts[1], self.value) if variable is not None else None
        if elements is None or variable is None:
            self._refuse(tokens[index:end], "the list that this loop runs over is not known", when)
            return end
        names = [variable]
        if variable.text == "]":
            names = [
                token
                for token in inside(parts[0], [part.text for part in parts[0]].index("["))[0]
                if token.kind == "name"
            ]
        for element in elements:
            values = [element]
            if len(names) > 1:
                body = element
                while body and body[0].text != "{":
                    body = body[1:]
                values = split(inside(body)[0]) if body else []
            if len(values) != len(names):
                self._refuse(tokens[index:end], "an element of this loop's list does not fit its names", when)
                return end
            replaced = substitute(statement, dict(zip((name.text for name in names), values, strict=True)))
            self._statements(replaced, when, depth + 1)
        return end

    def _compound(self, tokens: list[CppToken], index: int, pairs: Mapping[int, int], when: When, depth: int) -> int:
        end = extent(tokens, index, pairs)
        if tokens[index].text == "try" and index + 1 in pairs:
            end = pairs[index + 1] + 1
            self._statements(tokens[index + 2 : end - 1], when, depth + 1)
        elif tokens[index].text == "do" and index + 1 in pairs:
            end = end_of(tokens, pairs[index + 1], pairs) + 1
            body = tokens[index + 2 : pairs[index + 1]]
            if [token.text for token in tokens[pairs[index + 1] + 1 : end]] in (
                ["while", "(", value, ")", ";"] for value in ("0", "false")
            ):
                self._statements(body, when, depth + 1)
            elif self._mentions(body):
                self._refuse(tokens[index:end], "how often this 'do' runs is not known", when)
        else:
            if tokens[index].text == "catch" and index + 1 in pairs and pairs[index + 1] + 1 in pairs:
                end = pairs[pairs[index + 1] + 1] + 1
            if self._mentions(tokens[index:end]):
                self._refuse(tokens[index:end], f"registrations in a '{tokens[index].text}' are not followed", when)
        return end

    # ---- simple statements

    def _mentions(self, tokens: Sequence[CppToken]) -> bool:
        return any(token.text == self._library.name and token.kind == "name" for token in tokens)

    def _simple(self, tokens: list[CppToken], when: When, depth: int) -> None:
        if not tokens:
            return
        if not same_conditions(tokens):
            known = facts(())
            self._findings.forks.update(undecided((part for token in tokens for part in token.when), known))
        if not self._mentions(tokens):
            self._without_library(tokens, when)
            return
        if tokens[0].text == self._library.name and len(tokens) > 1 and tokens[1].text in (".", "->"):
            Registrar(self._library.block, self._findings, self.value).chain(tokens, joined(tokens[0].when, when))
        elif not self._declared_lambda(tokens) and not self._call(tokens, when, depth):
            self._refuse(tokens, "what this does with the library is not known", when)

    def _without_library(self, tokens: list[CppToken], when: When) -> None:
        name, value = initialised(tokens)
        if name:
            self._values[name] = value
        first = tokens[0].text
        macro_like = first.isupper() and len(first) > 2 and first not in _HARMLESS and tokens[0].kind == "name"
        if macro_like and (len(tokens) == 1 or (tokens[1].text == "(" and tokens[1].kind == "mark")):
            self._refuse(tokens, f"the macro {first} is not known", when)
            self._findings.missing[first] += 1
        elif any(token.text == "{{" or (token.text == "%" and token.space) for token in tokens):
            self._refuse(tokens, "this is a template, not C++", when)
        else:
            self._findings.account(tokens)

    def _declared_lambda(self, tokens: list[CppToken]) -> bool:
        """``auto add = [&](const char* name, auto f) { m.impl(name, f); };``"""
        name, value = initialised(tokens)
        if not name or not value or value[0].text != "[":
            return False
        _, index = inside(value)
        parameters: list[str] = []
        if index < len(value) and value[index].text == "(":
            inner, index = inside(value, index)
            parameters = [part[-1].text for part in split(inner) if part]
        while index < len(value) and value[index].text != "{":
            index += 1
        body, end = inside(value, index) if index < len(value) else ([], 0)
        if end != len(value):
            return False
        self._lambdas[name] = LibraryFunction(name, tuple(parameters), tuple(body))
        return True

    def _call(self, tokens: list[CppToken], when: When, depth: int) -> bool:
        """A call of a function that takes the library, or of a lambda that is written here."""
        if tokens[-1].text != ")":
            return False
        index, name = 0, ""
        while index < len(tokens) and (tokens[index].kind == "name" or tokens[index].text == "::"):
            name = tokens[index].text if tokens[index].kind == "name" else name
            index += 1
        if index == len(tokens) or tokens[index].text != "(":
            return False
        inner, end = inside(tokens, index)
        function = self._functions.function(name)
        if end != len(tokens) or function is None:
            return False
        return self._inlined(function, split(inner), tokens, when, depth)

    def _inlined(
        self, function: LibraryFunction, arguments: list[list[CppToken]], tokens: list[CppToken], when: When, depth: int
    ) -> bool:
        if len(arguments) != len(function.parameters) or depth > MAX_DEPTH:
            return False
        body = substitute(list(function.body), dict(zip(function.parameters, arguments, strict=True)))
        here = tuple(condition for condition in joined(tokens[0].when, when))
        self._statements(body, here, depth + 1)
        return True

    def value(self, name: str) -> Sequence[CppToken] | None:
        """The value of a local name, or of a constant of the file."""
        return self._values.get(name) or self._functions.value(name)

    def _refuse(self, tokens: Sequence[CppToken], why: str, when: When) -> None:
        if tokens:
            self._findings.refuse(tokens, why, when)
