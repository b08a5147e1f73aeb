"""Statements without braces in a registration block: registrations, calls of functions, declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.conditions import (
    Decision,
    When,
    conjunction,
    disjunction,
    joined,
    opposite,
)
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, inside, spelled, split, unwrapped, weight
from dispatch_cli.extract.cpp.registrations import Findings, Registrar, same_conditions
from dispatch_cli.extract.cpp.scope import LOOKUP, LibraryFunction, UnitScope
from dispatch_cli.extract.cpp.values import Lookup
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.conditions.condition import Atom
from dispatch_cli.model.sources.extracted import ExtractedBlock

MAX_NESTED = 40
"""Maximum depth of nested conditions and names."""
PARTLY = "only a part of this is under an '#if'"
HEADED = frozenset({"if", "for", "while", "switch", "else", "constexpr", "do", "try", "catch"})
_HARMLESS = frozenset(
    {"TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "TORCH_WARN", "TORCH_WARN_ONCE", "STD_TORCH_CHECK", "AT_ASSERT", "LOG"}
    | {"AT_ASSERTM", "C10_LOG_API_USAGE_ONCE", "C10_UNUSED", "UNUSED", "TORCH_CHECK_NOT_IMPLEMENTED", "CHECK", "DCHECK"}
)
_TYPES = frozenset({"auto", "const", "static", "constexpr", "using", "typedef", "namespace", "struct", "class"})


def end_of(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index of the ``;`` of the statement at *index*."""
    while index < len(tokens) and tokens[index].text != ";":
        index = pairs.get(index, index) + 1
    return index


def extent(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement that begins at *index*, without the ``else`` of an ``if``."""
    while index < len(tokens) and tokens[index].text in HEADED:
        index += 1
        if index < len(tokens) and tokens[index].text == "constexpr":
            index += 1
        if index < len(tokens) and tokens[index].text == "(":
            index = pairs[index] + 1
    if index < len(tokens) and tokens[index].text == "{":
        return pairs[index] + 1
    return min(end_of(tokens, index, pairs) + 1, len(tokens))


def whole(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement at *index*, with the ``else`` of an ``if``."""
    is_if = index < len(tokens) and tokens[index].text == "if"
    end = extent(tokens, index, pairs)
    while is_if and end < len(tokens) and tokens[end].text == "else":
        end = extent(tokens, end + 1, pairs)
    return end


def decision_of(tokens: Sequence[CppToken], lookup: Lookup, depth: int = 0) -> Decision:
    """Evaluate the condition of an ``if``, as far as the text decides it."""
    tokens = unwrapped(tokens)
    if depth < MAX_NESTED and tokens:
        for operator, join in (("||", disjunction), ("&&", conjunction)):
            parts = split(tokens, operator)
            if len(parts) > 1:
                return join([decision_of(part, lookup, depth + 1) for part in parts])
        if tokens[0].text == "!" and (len(tokens) == 2 or inside(tokens, 1)[1] == len(tokens)):
            return opposite(decision_of(tokens[1:], lookup, depth + 1))
        if len(tokens) == 1:
            if tokens[0].text in ("true", "false", "0", "1"):
                return tokens[0].text in ("true", "1")
            value = lookup(tokens[0].text)
            if value:
                return decision_of(value, lookup, depth + 1)
    return Atom(" ".join(spelled(tuple(tokens)).split()) or "…")


def elements_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> list[list[CppToken]] | None:
    """The elements of a list that is written down; None for something else."""
    tokens = unwrapped(tokens)
    if len(tokens) == 1 and tokens[0].kind == "name" and steps < MAX_NESTED:
        value = lookup(tokens[0].text)
        return None if value is None else elements_of(value, lookup, steps + 1)
    for index, token in enumerate(tokens):
        if token.text == "{":
            body, end = inside(tokens, index)
            if end != len(tokens):
                return None
            parts = split(body)
            return parts[:-1] if parts and not parts[-1] else parts
        if token.kind not in ("name", "number") and token.text not in ("::", "<", ">", "*", ",", "&", ">>"):
            return None
    return None


def substitute(tokens: list[CppToken], values: Mapping[str, Sequence[CppToken]], work: WorkBudget) -> list[CppToken]:
    """The tokens with values in place of names. work: what is made is counted in it. Errors: OverWork."""
    result: list[CppToken] = []
    work.spend(len(tokens))
    for index, token in enumerate(tokens):
        value = values.get(token.text) if token.kind == "name" else None
        before = tokens[index - 1].text if index else ""
        if value is None or before in (".", "->", "::"):
            result.append(token)
        elif len(value) == 1:  # a name for another one: it stays at its place
            result.append(token._replace(kind=value[0].kind, text=value[0].text))
        else:
            work.spend(len(value))
            result.extend(
                part._replace(when=token.when, space=part.space if number else token.space)
                for number, part in enumerate(value)
            )
    return result


def initialised(tokens: Sequence[CppToken]) -> tuple[str, list[CppToken]]:
    """The name and the value of a declaration such as ``const char* name = "x"``; empty for something else."""
    for index, token in enumerate(tokens):
        if token.text == "=" and token.kind == "mark" and index > 1:
            back = index - 1
            while back > 0 and tokens[back].text == "]":
                while back > 0 and tokens[back].text != "[":
                    back -= 1
                back -= 1
            return (tokens[back].text, list(tokens[index + 1 :])) if tokens[back].kind == "name" else ("", [])
        if token.text in ("(", "{", "."):
            if token.text == "{" and index > 1 and tokens[index - 1].kind == "name":
                return tokens[index - 1].text, list(tokens[index:])
            return "", []
    return "", []


class LibraryVariable(NamedTuple):
    """A ``torch::Library`` in a scope: its name there, and its block."""

    name: str
    block: ExtractedBlock


Statements = Callable[[list[CppToken], When, int], bool]


class SimpleStatements:
    """Reads the statements of one block that have no braces of their own.

    statements: reads those of a function.
    """

    def __init__(self, library: LibraryVariable, findings: Findings, scope: UnitScope, statements: Statements) -> None:
        self._library, self._findings, self._scope, self._statements = library, findings, scope, statements
        self._values: dict[str, Sequence[CppToken]] = {}
        self._registrar = Registrar(library.block, findings, self.local, scope.infer)

    def local(self, name: str) -> Sequence[CppToken] | None:
        """The value of a local name. Errors: OverWork, as names that stand for others twice stand for very much."""
        value = self._values.get(name)
        if value:
            self._scope.work.spend(LOOKUP + weight(value))
        return value

    def mentions(self, tokens: Sequence[CppToken]) -> bool:
        """True if the library is among *tokens*."""
        return any(token.kind == "name" and token.text == self._library.name for token in tokens)

    def read(self, tokens: list[CppToken], when: When, depth: int) -> None:
        """Read one statement, without its ``;``."""
        if not tokens:
            return
        whole = same_conditions(_without_bodies(tokens))
        if any("$" in token.text and token.kind == "name" for token in tokens):
            self.refuse(tokens, "this is a template, which is filled in when the project is built", when)
        elif not self.mentions(tokens):
            self._without_library(tokens, when, whole)
        elif not whole:
            self.refuse(tokens, PARTLY, when)
        elif tokens[0].text == self._library.name and len(tokens) > 1 and tokens[1].text in (".", "->"):
            self._registrar.chain(tokens, joined(tokens[0].when, when))
        elif self._is_class(tokens):
            self._findings.account(tokens)
        elif not self._call(tokens, when, depth):
            self.refuse(tokens, "what this does with the library is not known", when)

    def refuse(self, tokens: Sequence[CppToken], why: str, when: When, bound: bool = False) -> None:
        """Keep a statement that is not understood."""
        if tokens:
            self._findings.refuse(tokens, why, when, bound)

    def _without_library(self, tokens: list[CppToken], when: When, whole: bool) -> None:
        name, value = initialised(tokens)
        if name:
            self._values[name] = value if whole else ()
        first = tokens[0].text
        named = tokens[0].kind == "name" and first not in _HARMLESS and first not in ("break", "continue")
        macro = (first.isupper() and len(first) > 2) or first in self._scope.ambiguous
        called = macro and len(tokens) > 1 and tokens[1].text == "("
        if named and (called or len(tokens) == 1):
            self.refuse(tokens, f"the macro {first} is not known", when)
            self._findings.missing[first] += 1
        elif any(token.text in ("impl", "fallback") and _is_call(tokens, index) for index, token in enumerate(tokens)):
            self.refuse(tokens, "which library this registers with is not known", when)
        else:
            self._findings.account(tokens)

    def _is_class(self, tokens: list[CppToken]) -> bool:
        """``auto c = m.class_<C>("C")``, which registers a class and no operator."""
        name, value = initialised(tokens)
        texts = [token.text for token in value[:3]]
        return bool(name) and texts[:1] == [self._library.name] and texts[2:] == ["class_"]

    def _call(self, tokens: list[CppToken], when: When, depth: int) -> bool:
        """A call of a function that takes the library."""
        index, name = 0, ""
        while index < len(tokens) and (tokens[index].kind == "name" or tokens[index].text == "::"):
            name = tokens[index].text if tokens[index].kind == "name" else name
            index += 1
        if index == len(tokens) or tokens[index].text != "(" or tokens[0].text in _TYPES:
            return False
        inner, end = inside(tokens, index)
        if end != len(tokens):
            return False
        arguments = split(inner)
        function = self._scope.function(name)
        if function is not None:
            return self._inlined(function, arguments, tokens, when, depth)
        if not self._scope.may_follow():
            self.refuse(tokens, f"the function {name} is not found in the sources", when)
        return True

    def _inlined(
        self,
        function: LibraryFunction,
        arguments: list[list[CppToken]],
        tokens: list[CppToken],
        when: When,
        depth: int,
    ) -> bool:
        if len(arguments) != len(function.parameters):
            return False
        values = dict(zip(function.parameters, arguments, strict=True))
        body = substitute(list(function.body), values, self._scope.work)
        self._statements(body, joined(tokens[0].when, when), depth + 1)
        return True


def _is_call(tokens: Sequence[CppToken], index: int) -> bool:
    """True if the name at *index* is called as a member."""
    return (
        0 < index < len(tokens) - 1 and tokens[index - 1].text in (".", "->") and tokens[index + 1].text in ("(", "<")
    )


def _without_bodies(tokens: list[CppToken]) -> list[CppToken]:
    """Without what is between the braces of lambdas, whose conditions do not matter."""
    result: list[CppToken] = []
    index, is_result = 0, False
    while index < len(tokens):
        text = tokens[index].text
        if text == "{" and result and (is_result or result[-1].text in (")", "mutable", "noexcept")):
            index = inside(tokens, index)[1]
            continue
        is_result = text == "->" or (is_result and text not in ("(", ")", ","))
        result.append(tokens[index])
        index += 1
    return result
