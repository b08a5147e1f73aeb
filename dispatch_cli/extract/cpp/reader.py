"""Reads one translation unit: finds its registration blocks and hands their statements on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

from dispatch_cli.extract.cpp.preprocessor.conditions import When, joined
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, chain_calls, lex, nesting, split
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.registrations import Findings, Registrar, is_under, same_conditions
from dispatch_cli.extract.cpp.signatures import Signatures
from dispatch_cli.extract.cpp.statements import PARTLY, BodyReader, LibraryFunction, LibraryFunctions
from dispatch_cli.extract.cpp.values import block_key, block_namespace, kernel_of, no_value, text_of
from dispatch_cli.extract.work import OverWork, check_size
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import ExtractedBlock, Unknown

_NAME = re.compile(r"(?:(\w+)\s*::\s*)?([A-Za-z_]\w*)\s*\Z")
_Name = TypeVar("_Name", bound="str | Unknown | None")
_KINDS = {None: LibraryKind.DEF, "_FRAGMENT": LibraryKind.FRAGMENT, "_IMPL": LibraryKind.IMPL}
_BLOCK = re.compile(r"_?(?:STABLE_)?TORCH_LIBRARY(_FRAGMENT|_IMPL)?")
_LIBRARY_MACRO = re.compile(r"(?!_?EXECUTORCH|MAKE_)[A-Z0-9_]+_LIBRARY(?:_[A-Z0-9_]+)?")
"""A macro that may stand for a block; ExecuTorch has its own registry."""


class UnitReader:
    """Reads the registrations of one translation unit."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions) -> None:
        self._unit, self._functions = unit, functions
        self.findings = Findings()
        self._build: When = unit.project.sources.settings(unit.main).when
        self._signatures = Signatures(unit)

    def read(self) -> None:
        """Read it. Errors: OverWork, with the place of the construct where that is known."""
        while True:
            self._unit.skip()
            token = self._unit.next()
            if token is None:
                break
            try:
                self._construct(token)
            except OverWork as error:
                error.at = error.at or token.at
                raise

    def _construct(self, token: CppToken) -> None:
        text = token.text
        if text == "RegisterOperators":
            self._register_operators(token)
        elif block := _BLOCK.fullmatch(text):
            self._block(token, _KINDS[block[1]])
        elif text in ("Library", "StableLibrary"):
            self._function(*_function_head(token))
        elif text in self._unit.project.block_macros or _LIBRARY_MACRO.fullmatch(text):
            taken = self._bracketed([token])
            if taken is not None:
                self.findings.refuse(taken, f"the macro {text} is not known", self._build)

    # ---- blocks

    def _block(self, token: CppToken, kind: LibraryKind) -> None:
        taken = self._bracketed([token])
        if taken is None:
            return self.findings.refuse([token], "the brackets of this block do not match", self._build)
        self.findings.account([token])
        arguments = split(taken[2:-1])
        if kind is not LibraryKind.IMPL:
            arguments.insert(1, [])  # the key
        if len(arguments) < 3 or not same_conditions(taken):
            return self.findings.refuse(taken, "this block has no namespace, key and name", self._build)
        namespace = self._known(block_namespace(arguments[0]))
        key = self._known(block_key(arguments[1])) if arguments[1] else None
        block = ExtractedBlock(kind, namespace, key, token.at, joined(token.when, self._build))
        opening = self._unit.next()
        body = self._bracketed([opening]) if opening is not None and opening.text == "{" else None
        if body is None:
            return self.findings.refuse(taken, "the braces of this block are missing or do not match", self._build)
        self.findings.add(block)
        name = arguments[2][-1].text if arguments[2] else ""
        reader = BodyReader(name, block, self.findings, self._unit, self._functions, self._signatures.infer)
        reader.read(body[1:-1], self._build)
        return None

    def _known(self, value: _Name) -> _Name | Unknown:
        """A namespace or key, unless it is a macro that stands for one."""
        return Unknown(value) if isinstance(value, str) and value in self._unit.table.ambiguous else value

    # ---- RegisterOperators, and functions that take a library

    def _register_operators(self, token: CppToken) -> None:
        """``torch::RegisterOperators().op(...)``, the way of registering that came before ``TORCH_LIBRARY``.

        After aten/src/ATen/core/op_registration/op_registration.h. JIT operators (``torch::jit::RegisterOperators``
        with a list of ``Operator``) are not registered with the dispatcher.
        """
        following = self._unit.next()
        if following is not None and following.kind == "name":
            following = self._unit.next()
        first = self._bracketed([following]) if following is not None and following.text in ("(", "{") else None
        if first is None:
            return None
        rest: list[CppToken] = []
        while (part := self._unit.next()) is not None and part.text == ".":
            name = self._unit.next()
            taken = self._bracketed([part, *([name] if name else [])])
            if taken is None:
                break
            rest += taken
        arguments = split(first[1:-1])
        if arguments and arguments[0] and arguments[0][0].kind not in ("string", "raw"):  # JIT operators
            return self.findings.account([token, *first, *rest])
        if not _is_static(token):
            self.findings.refuse([token], "without 'static', this may be in a function, such as a test", self._build)
            return self.findings.account([*first, *rest])
        self.findings.account([token])
        if arguments:
            self._operator("op", arguments, [token, *first])
        for call in chain_calls(rest) or ():
            self._operator(call.name, call.arguments, call.tokens)
        return None

    def _operator(self, name: str, arguments: Sequence[Sequence[CppToken]], tokens: Sequence[CppToken]) -> None:
        """``.op(schema, function)``; the form with options is not followed."""
        when = joined(tokens[0].when, self._build)
        schema = text_of(arguments[0], no_value) if arguments and name == "op" else None
        function = arguments[1] if len(arguments) == 2 else []
        if schema is None or len(arguments) > 2 or any(token.text == "options" for token in function):
            return self.findings.refuse(tokens, "this call of RegisterOperators is not followed", when)
        if not same_conditions(tokens):
            return self.findings.refuse(tokens, PARTLY, when)
        self.findings.account(tokens)
        operator = schema.partition("(")[0].strip()
        namespace = operator.partition("::")[0] if "::" in operator else Unknown(operator)
        block = ExtractedBlock(LibraryKind.FRAGMENT, namespace, None, tokens[0].at, when, implicit=True)
        self.findings.add(block)
        registrar = Registrar(block, self.findings, no_value, self._signatures.infer, self._unit.table)
        kernel = kernel_of(function, no_value) if function else None
        return registrar.define(schema, kernel, tokens[0].at, when, "default")

    def _function(self, name: str, start: list[CppToken], scope: str) -> None:
        """A function with a parameter ``torch::Library&``. start: its tokens from the ``(`` on, if it is one."""
        taken = self._bracketed(start) if start else None
        following = self._unit.next() if taken is not None else None
        body = self._bracketed([following]) if following is not None and following.text == "{" else None
        if taken is not None and body is not None:
            parameters = tuple(part[-1].text for part in split(taken[1:-1]) if part)
            functions = self._functions.setdefault(name, {})
            functions.pop(scope, None)  # the last one that is read comes last
            functions[scope] = LibraryFunction(parameters, tuple(body[1:-1]), self._signatures.infer)

    def _bracketed(self, start: list[CppToken]) -> list[CppToken] | None:
        """The tokens up to the end of the bracket that begins in *start*, or directly behind it.

        None where it does not end, or where a part of it is under another ``#if`` than its brackets.
        """
        result: list[CppToken] = []
        opened: list[When] = []
        for index, token in enumerate(chain(start, iter(self._unit.next, None))):
            assert token is not None
            if opened and not is_under(token, opened[-1]):
                return None
            result.append(token)
            check_size(result)
            change = nesting(token)
            if change > 0:
                opened.append(token.when)
            elif change < 0 and (not opened or opened.pop() != token.when):
                return None
            if not opened and index >= len(start):
                return result if change < 0 else None
        return None


def _is_static(token: CppToken) -> bool:
    """True if the declaration that a token is in says ``static``."""
    source, offset = token.use or (token.source, token.offset)
    before = source.blanked[max(0, offset - 200) : offset]
    return "static" in before[max(before.rfind(mark) for mark in ";{}") + 1 :]


def _function_head(token: CppToken) -> tuple[str, list[CppToken], str]:
    """The name of the function in whose parameters *token* is, those from the ``(`` up to it, and what it is in.

    Nothing where it is in no parameters, and of a function that a macro makes.
    """
    before = token.source.blanked[max(0, token.offset - 500) : token.offset]
    opening = before.rfind("(")
    name = _NAME.search(before, 0, max(opening, 0))
    if token.use is not None or name is None or any(mark in before[opening + 1 :] for mark in ");{}"):
        return "", [], ""
    start = token.offset - len(before) + opening
    scope = name[1] or token.source.scope(start)
    return name[2], [*lex(token.source, start, token.offset, token.when), token], scope
