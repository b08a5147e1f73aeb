"""The statements of registration blocks: registrations, calls of functions, conditions, loops and declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.conditions import (
    FIND_SCHEMA,
    Decision,
    When,
    decide,
    joined,
    narrowed,
    opposite,
)
from dispatch_cli.extract.cpp.preprocessor.tokens import NO_CALL, CppToken, partners, spelled, split, weight, whole_call
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.registrations import Findings, Infer, Registrar, is_under, same_conditions
from dispatch_cli.extract.cpp.values import elements_of
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import ExtractedBlock, ExtractedDefinition, Unknown

MAX_DEPTH = 40
"""Maximum depth of nested statements and calls of functions."""
CONDITION = 20
"""Units of work of each condition of a statement: whoever reads what is extracted looks at it several times."""
LOOKUP = 10
"""Units of work of a name that stands for an expression."""
MAX_NAME = 40
"""Tokens of a statement that stand for the name of an operator that it may define."""
PARTLY = "only a part of this is under an '#if'"
_HEADED = frozenset({"if", "for", "while", "switch", "else", "constexpr", "do", "try", "catch"})
_HARMLESS = frozenset(
    {"TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "TORCH_WARN", "TORCH_WARN_ONCE", "STD_TORCH_CHECK", "AT_ASSERT", "LOG"}
    | {"AT_ASSERTM", "C10_LOG_API_USAGE_ONCE", "C10_UNUSED", "UNUSED", "TORCH_CHECK_NOT_IMPLEMENTED", "CHECK", "DCHECK"}
)


class LibraryFunction(NamedTuple):
    """A function that takes a library. parameters: their names. body: its statements.

    infer: gives the signatures of the functions that it names, which are in its file.
    """

    parameters: tuple[str, ...]
    body: tuple[CppToken, ...]
    infer: Infer


LibraryFunctions = dict[str, dict[str, LibraryFunction]]
"""The functions that were found so far, by name, and by the class or namespace that they are in.

What one registers that nothing calls, the audit finds.
"""


def statements(tokens: list[CppToken], pairs: Mapping[int, int]) -> Iterator[list[CppToken]]:
    """The statements, each with its ``;`` and the ``else`` of an ``if``. pairs: the brackets."""
    start = 0
    while start < len(tokens):
        behind = pairs.get(start + 1, len(tokens)) + 1
        is_macro = tokens[start].text.isupper() and behind < len(tokens) and tokens[behind].kind == "name"
        end = behind if is_macro else whole(tokens, start, pairs)  # a macro may have no ``;``
        yield tokens[start:end]
        start = end


def extent(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement that begins at *index*, without the ``else`` of an ``if``."""
    while index < len(tokens) and tokens[index].text in _HEADED:
        index += 1
        if index < len(tokens) and tokens[index].text == "(":
            index = pairs[index] + 1
    if index < len(tokens) and tokens[index].text == "{":
        return pairs[index] + 1
    while index < len(tokens) and tokens[index].text != ";":
        index = pairs.get(index, index) + 1
    return min(index + 1, len(tokens))


def whole(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement at *index*, with the ``else`` of an ``if``."""
    is_if = index < len(tokens) and tokens[index].text == "if"
    end = extent(tokens, index, pairs)
    while is_if and end < len(tokens) and tokens[end].text == "else":
        end = extent(tokens, end + 1, pairs)
    return end


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
            name = tokens[index - 1]
            return (name.text, list(tokens[index + 1 :])) if name.kind == "name" else ("", [])
        if token.text in ("(", "{", "."):
            return "", []
    return "", []


def _may_differ(body: Sequence[CppToken], variable: str) -> bool:
    """True if a loop may leave out elements, or change its variable."""
    pairs = pairwise(body)
    changes = (first.text == variable and second.text.endswith("=") and second.text != "==" for first, second in pairs)
    return any(token.text in ("break", "continue") for token in body) or any(changes)


class BodyReader:
    """Reads the statements of one block. name: the library's. infer: gives the signature of a function."""

    def __init__(
        self,
        name: str,
        block: ExtractedBlock,
        findings: Findings,
        unit: TranslationUnit,
        functions: LibraryFunctions,
        infer: Infer,
    ) -> None:
        self._name, self._block, self._block_when, self._findings = name, block, block.when, findings
        self._unit, self._functions = unit, functions
        self._values: dict[str, Sequence[CppToken]] = {}
        self._may_have_left = False
        self._registrar = Registrar(block, findings, self._local, infer, unit.table)

    def read(self, tokens: list[CppToken], when: When, depth: int = 0) -> None:
        """Read statements one by one. when: what holds beside the conditions of *tokens*."""
        pairs = partners(tokens)
        self._unit.work.spend(len(tokens) + 1)
        if pairs is None:
            self._refuse(tokens, "its brackets do not match", when)
            return
        if depth > MAX_DEPTH:
            self._refuse(tokens, f"statements nest more than {MAX_DEPTH} deep", when, bound=True)
            return
        for statement in statements(tokens, pairs):
            self._unit.work.spend(1 + CONDITION * (len(when) + len(statement[0].when)))
            self._statement(statement, when, depth)

    def _statement(self, tokens: list[CppToken], when: When, depth: int) -> None:
        """Read one statement."""
        token = tokens[0]
        plain = tokens[:-1] if tokens[-1].text == ";" else tokens
        if token.text == "{" and token.kind == "mark":
            self.read(tokens[1:-1], when, depth + 1)
        elif token.text in _HEADED:
            self._headed(tokens, when, depth)
        elif token.text == "return":
            self._simple(plain[1:], when, depth)
            self._may_have_left = True
        else:
            self._simple(plain, when, depth)

    def _headed(self, tokens: list[CppToken], when: When, depth: int) -> None:
        """A condition or a loop."""
        kind = tokens[0].text
        pairs = partners(tokens) or {}
        if not all(is_under(part, tokens[0].when) for part in tokens):
            self._refuse(tokens, PARTLY, when)
        elif kind == "if" and 1 in pairs:
            decision = decide(tokens[2 : pairs[1]], self._local)
            behind = whole(tokens, pairs[1] + 1, pairs)
            self._branch(tokens[pairs[1] + 1 : behind], when, decision, depth)
            self._branch(tokens[behind + 1 :], when, opposite(decision), depth)
        elif self._mentions(tokens) and not (kind == "for" and 1 in pairs and self._for(tokens, pairs[1], when, depth)):
            self._refuse(tokens, f"the registrations in this '{kind}' are not followed", when)

    def _branch(self, tokens: list[CppToken], when: When, decision: Decision, depth: int) -> None:
        inner = narrowed(when, decision)
        if inner is None:
            self._findings.account(tokens)
        else:
            self.read(tokens, inner, depth + 1)

    def _for(self, tokens: list[CppToken], closing: int, when: When, depth: int) -> bool:
        """A loop over a list that is written down. Returns false for another one. closing: the ``)`` of its head."""
        parts = split(tokens[2:closing], ":")
        variable = parts[0][-1] if len(parts) == 2 and parts[0] and parts[0][-1].kind == "name" else None
        elements = elements_of(parts[1], self._local) if variable is not None else None
        if elements is None or variable is None or _may_differ(tokens[closing + 1 :], variable.text):
            return False
        for element in elements:
            self.read(substitute(tokens[closing + 1 :], {variable.text: element}, self._unit.work), when, depth + 1)
        return True

    def _refuse(self, tokens: list[CppToken], why: str, when: When, bound: bool = False) -> None:
        """Keep a statement that is not understood. It may define an operator, unless it calls only ``impl``."""
        self._findings.refuse(tokens, why, when, bound)
        texts = {token.text for token in tokens}
        if self._block.kind is not LibraryKind.IMPL and ("def" in texts or "impl" not in texts):
            name = Unknown(" ".join(spelled(tuple(tokens[:MAX_NAME])).split()))
            when = joined(tokens[0].when, when)
            self._findings.add(ExtractedDefinition(self._block, name, None, tokens[0].at, when, why_unknown=why))

    # ---- statements without braces

    def _local(self, name: str) -> Sequence[CppToken] | None:
        """The value of a local name. Errors: OverWork, as names that stand for others twice stand for very much."""
        value = self._values.get(name)
        if value:
            self._unit.work.spend(LOOKUP + weight(value))
        return value

    def _mentions(self, tokens: Sequence[CppToken]) -> bool:
        """True if the library is among *tokens*."""
        return any(token.kind == "name" and token.text == self._name for token in tokens)

    def _simple(self, tokens: list[CppToken], when: When, depth: int) -> None:
        """Read one statement that has no braces of its own, without its ``;``."""
        if not tokens:
            return
        is_whole = same_conditions(tokens)
        texts = [token.text for token in tokens]
        is_cast_to_void = "".join(texts[:8]) in (f"(void){self._name}", f"static_cast<void>({self._name})")
        if not self._mentions(tokens):
            self._without_library(tokens, when, is_whole)
        elif "class_" in texts or is_cast_to_void:  # it defines no operator
            self._findings.account(tokens)
        elif self._may_have_left:
            self._refuse(tokens, "a 'return' before it may leave the block", when)
        elif not is_whole:
            self._refuse(tokens, PARTLY, when)
        elif tokens[0].text == self._name and len(tokens) > 1 and tokens[1].text in (".", "->"):
            self._registrar.chain(tokens, joined(tokens[0].when, when))
        elif not self._call(tokens, when, depth):
            self._refuse(tokens, "what this does with the library is not known", when)

    def _without_library(self, tokens: list[CppToken], when: When, is_whole: bool) -> None:
        """A declaration, or a call that does not name the library. is_whole: all of it is under the same conditions."""
        name, value = initialised(tokens)
        if not name and len(tokens) > 2 and tokens[1].text == "=" and any(it.text == FIND_SCHEMA for it in tokens):
            name, value = tokens[0].text, tokens[2:]
        if name:  # a name that has a value already, and gets another one under an '#if', is not known
            is_sure = name not in self._values or all(part in self._block_when for part in tokens[0].when)
            self._values[name] = value if is_whole and is_sure else ()
        first = tokens[0].text
        if not name and len(tokens) > 1 and first in self._values and tokens[1].text in (".", "=", "+="):
            self._values[first] = ()  # it may have changed
        named = tokens[0].kind == "name" and first not in _HARMLESS and first not in ("break", "continue")
        macro = (first.isupper() and len(first) > 2) or first in self._unit.table.ambiguous
        called = macro and len(tokens) > 1 and tokens[1].text == "("
        if named and (called or len(tokens) == 1):
            self._refuse(tokens, f"the macro {first} is not known", when)

    def _call(self, tokens: list[CppToken], when: When, depth: int) -> bool:
        """A call of a function that takes the library."""
        call = whole_call(tokens)
        if call is NO_CALL or call.template or tokens[-1].text != ")":
            return False
        name, arguments = call.name, call.arguments
        functions = self._functions.get(name, {})
        last = next(reversed(functions.values()), None)
        scope = call.scope or tokens[0].source.scope(tokens[0].offset)
        function = functions.get(scope, None if len(functions) > 1 and call.scope else last)
        if function is None:
            kind = "macro" if name.isupper() else "function"
            self._refuse(tokens, f"what the {kind} {name} does with the library is not known", when)
            return True
        if len(arguments) != len(function.parameters):
            return False
        values = dict(zip(function.parameters, arguments, strict=True))
        body = substitute(list(function.body), values, self._unit.work)
        infer, self._registrar.infer = self._registrar.infer, function.infer
        self.read(body, joined(tokens[0].when, when), depth + 1)
        self._registrar.infer = infer
        self._may_have_left = False  # a 'return' of the function leaves that alone
        return True
