"""``auto m = MAKE_TORCH_LIBRARY(ns);`` and what is done with *m* in the same braces."""

from __future__ import annotations

from dispatch_cli.extract.cpp.blocks import in_test, made_block, when_called
from dispatch_cli.extract.cpp.body import BodyReader
from dispatch_cli.extract.cpp.brackets import inside, split
from dispatch_cli.extract.cpp.context import When, joined
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.scope import UnitScope
from dispatch_cli.extract.cpp.simple import LibraryVariable
from dispatch_cli.extract.cpp.surroundings import variable_before
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.extract.work import check_size
from dispatch_cli.model.declarations import LibraryKind


class ObjectsReader:
    """Reads the library objects of one translation unit. build: what holds for all of it."""

    def __init__(self, unit: TranslationUnit, findings: Findings, scope: UnitScope, build: When) -> None:
        self._unit, self._findings, self._scope, self._build = unit, findings, scope, build

    def read(self, token: CppToken) -> None:
        """Read the objects of the braces in which *token* makes the first one."""
        scope: list[CppToken] = [token]
        depth = 0
        while (following := self._unit.next()) is not None:
            if following.kind == "mark":
                depth += (following.text in ("(", "{", "[")) - (following.text in (")", "}", "]"))
                if depth < 0:
                    break
            scope.append(following)
            check_size(scope)
            if depth == 0 and following.text == ";" and not when_called(token):
                break
        if in_test(token):
            return self._findings.leave_out(scope)
        for index, part in enumerate(scope):
            if part.text.startswith("@MAKE_"):
                self._object(scope, index)
            elif part.text.startswith("@") and "LIBRARY" in part.text:
                self._findings.refuse(scope[index:], "a registration block is not expected here", self._build)
        return None

    def _object(self, scope: list[CppToken], index: int) -> None:
        token = scope[index]
        source, offset = token.use or (token.source, token.offset)
        inner, behind = inside(scope, index + 1)
        kind = LibraryKind.IMPL if token.text.endswith("_IMPL") else LibraryKind.DEF
        self._findings.account([token])
        when = joined(self._build, when_called(token))
        block = made_block(kind, token, split(inner), when, self._findings)
        self._findings.add(block)
        name = variable_before(source, offset)
        if name is None:
            return self._findings.refuse(scope[index:behind], "what becomes of this library is not known", self._build)
        end, depth = behind, 0
        while end < len(scope):
            text = scope[end].text if scope[end].kind == "mark" else ""
            depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
            if depth < 0:
                break
            end += 1
        self._unit.work.spend(end - behind)
        reader = BodyReader(LibraryVariable(name, block), self._findings, self._scope, when, False)
        reader.read(scope[behind:end])
        return None
