"""Reads one translation unit: finds its registration blocks and hands their statements on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.extract.cpp.body import BodyReader
from dispatch_cli.extract.cpp.brackets import inside, split
from dispatch_cli.extract.cpp.context import When, joined, undecided
from dispatch_cli.extract.cpp.findings import Findings, same_conditions
from dispatch_cli.extract.cpp.keys import block_key, is_macro_like
from dispatch_cli.extract.cpp.library_functions import LibraryFunctions
from dispatch_cli.extract.cpp.register_operators import OperatorsReader, chain_calls
from dispatch_cli.extract.cpp.scope import UnitScope
from dispatch_cli.extract.cpp.simple import LibraryFunction, LibraryVariable
from dispatch_cli.extract.cpp.surroundings import enclosing_function, parameter_list, variable_before
from dispatch_cli.extract.cpp.tokens import CppToken, lex, spelled
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.model.condition import Atom, Condition, Not
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, Unknown

MAX_BODY = 1_000_000
"""Tokens of one block."""
MAX_OBJECTS = 50
"""Library objects in one function."""
_KINDS = {
    "TORCH_LIBRARY": LibraryKind.DEF,
    "TORCH_LIBRARY_FRAGMENT": LibraryKind.FRAGMENT,
    "TORCH_LIBRARY_IMPL": LibraryKind.IMPL,
}
_LIBRARY_MACRO = re.compile(r"[A-Z0-9_]+_LIBRARY(?:_[A-Z0-9_]+)?")


class UnitReader:
    """Reads the registrations of one translation unit."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions, assumed: When) -> None:
        self._unit, self._functions = unit, functions
        self.findings = Findings()
        self._build: When = joined(unit.project.settings(unit.main).when, assumed)
        self._scope = UnitScope(unit, functions)
        self._operators = OperatorsReader(self.findings, self._scope.value, self._scope.infer)

    def read(self) -> Findings:
        """Read it. Errors: TooMuch."""
        while True:
            self._unit.skip()
            token = self._unit.next()
            if token is None:
                break
            self._construct(token)
        self.findings.account(self._unit.block_macros())
        self.findings.forks |= self._unit.forks
        return self.findings

    def _construct(self, token: CppToken) -> None:
        text = token.text
        if text.startswith("@"):
            if "MAKE_" in text:
                self._made(token)
            else:
                self._block(token)
        elif text == "RegisterOperators":
            self._register_operators(token)
        elif text in ("Library", "StableLibrary"):
            self._function(token)
        elif _LIBRARY_MACRO.fullmatch(text) and (taken := self._bracketed([token])) is not None:
            self.findings.refuse(taken, f"the macro {text} is not known", self._build)
            self.findings.missing[text] += 1

    # ---- blocks

    def _block(self, token: CppToken) -> None:
        taken = self._bracketed([token])
        if taken is None:
            return self.findings.refuse([token], "the brackets of this block do not match", self._build)
        if not same_conditions(taken):
            self.findings.forks.update(undecided((condition for part in taken for condition in part.when), {}))
        self.findings.forks |= self._unit.ambiguous(taken)
        arguments = split(taken[2:-1])
        self.findings.account([token])
        kind = _KINDS[token.text[1:].removeprefix("STABLE_")]
        if len(arguments) != 3:
            return self.findings.refuse(taken, "this block has no namespace, key and name", self._build)
        block = self._made_block(kind, token, arguments, ())
        opening = self._unit.next()
        body = self._bracketed([], opening) if opening is not None and opening.text == "{" else None
        if body is None:
            return self.findings.refuse(taken, "the braces of this block are missing or do not match", self._build)
        self.findings.add(block)
        name = arguments[2][-1].text if arguments[2] else ""
        BodyReader(LibraryVariable(name, block), self.findings, self._scope, self._build).read(body[1:-1])
        return None

    def _made_block(
        self, kind: LibraryKind, token: CppToken, arguments: list[list[CppToken]], when: When
    ) -> ExtractedBlock:
        at = token.at
        written = "".join(part.text for part in arguments[0])
        namespace: str | Unknown = written
        if not written.isidentifier() or is_macro_like(written):
            namespace = Unknown(spelled(tuple(arguments[0])))
            self.findings.missing[written] += 1
        key = block_key(arguments[1]) if len(arguments) > 1 and arguments[1] else None
        if isinstance(key, Unknown):
            self.findings.missing[key.expression] += 1
        return ExtractedBlock(kind, namespace, key, at, joined(joined(token.when, self._build), when))

    def _made(self, token: CppToken) -> None:
        """``auto m = MAKE_TORCH_LIBRARY(ns);`` and what is done with *m* in the same braces."""
        scope: list[CppToken] = [token]
        depth = 0
        while (following := self._unit.next()) is not None and len(scope) <= MAX_BODY:
            if following.kind == "mark":
                depth += (following.text in ("(", "{", "[")) - (following.text in (")", "}", "]"))
                if depth < 0:
                    break
            scope.append(following)
            if depth == 0 and following.text == ";" and not self._called(token):
                break
        made = [index for index, part in enumerate(scope) if part.text.startswith("@MAKE_")]
        for index in made[MAX_OBJECTS:]:
            self.findings.refuse(
                scope[index : index + 1], f"there are more than {MAX_OBJECTS} such objects", self._build
            )
        for index, part in enumerate(scope):
            if index in made[:MAX_OBJECTS]:
                self._made_object(scope, index)
            elif part.text.startswith("@") and "LIBRARY" in part.text and index not in made:
                self.findings.refuse(scope[index:], "a registration block is not expected here", self._build)

    def _made_object(self, scope: list[CppToken], index: int) -> None:
        token = scope[index]
        source, offset = token.use or (token.source, token.offset)
        inner, behind = inside(scope, index + 1)
        kind = LibraryKind.IMPL if token.text.endswith("_IMPL") else LibraryKind.DEF
        self.findings.account([token])
        when = self._called(token)
        block = self._made_block(kind, token, split(inner), when)
        self.findings.add(block)
        name = variable_before(source, offset)
        if name is None:
            return self.findings.refuse(scope[index:behind], "what becomes of this library is not known", self._build)
        end, depth = behind, 0
        while end < len(scope):
            text = scope[end].text if scope[end].kind == "mark" else ""
            depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
            if depth < 0:
                break
            end += 1
        reader = BodyReader(LibraryVariable(name, block), self.findings, self._scope, joined(self._build, when), False)
        reader.read(scope[behind:end])
        return None

    def _called(self, token: CppToken) -> When:
        """That the function is called in which a registration stands."""
        source, offset = token.use or (token.source, token.offset)
        function = enclosing_function(source, offset)
        return () if function is None else (Atom(f"{function} is called"),)

    # ---- RegisterOperators, and functions that take a library

    def _register_operators(self, token: CppToken) -> None:
        following = self._unit.next()
        if following is not None and following.kind == "name":
            following = self._unit.next()
        if following is None or following.text not in ("(", "{"):
            return None
        first = self._bracketed([], following)
        if first is None:
            return self.findings.refuse([token], "the brackets of this statement do not match", self._build)
        rest: list[CppToken] = []
        while (part := self._unit.next()) is not None and part.text == ".":
            name = self._unit.next()
            taken = self._bracketed([part, *([name] if name else [])])
            if taken is None:
                break
            rest += taken
        self.findings.account([token])
        arguments = split(first[1:-1])
        when = joined(joined(token.when, self._build), self._called(token))
        if arguments and arguments[0] and arguments[0][0].kind in ("string", "raw"):
            self._operators.op([token, *first], arguments, when)
        elif arguments:  # torch::jit::RegisterOperators, with JIT operators
            return self.findings.account([*first, *rest])
        for call in chain_calls(rest) or ():
            if call.name == "op":
                self._operators.op(call.tokens, call.arguments, when)
            else:
                self.findings.refuse(call.tokens, f"'{call.name}' of RegisterOperators is not known", when)
        return None

    def _function(self, token: CppToken) -> None:
        """A function with a parameter ``torch::Library&``."""
        if token.use is not None or (place := parameter_list(token.source, token.offset)) is None:
            return
        name, opening = place
        head = list(lex(token.source, opening, token.offset))
        taken = self._bracketed(head, token, depth=sum(_depth(part) for part in head))
        following = self._unit.next()
        while following is not None and following.text in ("const", "noexcept", "mutable"):
            following = self._unit.next()
        if taken is None or following is None or following.text != "{":
            return
        body = self._bracketed([], following)
        if body is None:
            return
        parameters = [_parameter(part) for part in split(taken[1:-1])]
        libraries = [
            parameter
            for parameter, part in zip(parameters, split(taken[1:-1]), strict=True)
            if any("Library" in word.text for word in part)
        ]
        made = LibraryFunction(name, tuple(parameters), tuple(body[1:-1]))
        self._functions.add(made, token, libraries, self._build)

    def _bracketed(
        self, start: list[CppToken], opening: CppToken | None = None, depth: int = 0
    ) -> list[CppToken] | None:
        """The tokens up to the end of the bracket that begins now; None where it does not end."""
        token = opening or self._unit.next()
        if token is None or (depth == 0 and token.text not in ("(", "{")):
            return None
        result = [*start, token]
        depth += _depth(token)
        while depth > 0:
            token = self._unit.next()
            if token is None or len(result) > MAX_BODY:
                return None
            depth += _depth(token)
            result.append(token)
        return result


def _depth(token: CppToken) -> int:
    if token.kind != "mark":
        return 0
    return (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))


def _parameter(tokens: Sequence[CppToken]) -> str:
    """The name of a parameter."""
    names = [token.text for token in tokens]
    if "=" in names:
        names = names[: names.index("=")]
    return names[-1] if names else ""


def assumptions(assumed: dict[str, bool]) -> When:
    """The conditions that say what is assumed."""
    made: list[Condition] = [Atom(atom) if true else Not(Atom(atom)) for atom, true in assumed.items()]
    return tuple(made)
