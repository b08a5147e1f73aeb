"""Reads one translation unit: finds its registration blocks and hands their statements on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.extract.cpp.blocks import (
    KINDS,
    BodyReader,
    function_head,
    in_test,
    made_block,
    when_called,
)
from dispatch_cli.extract.cpp.preprocessor.conditions import When, joined, undecided
from dispatch_cli.extract.cpp.preprocessor.project import HELPER_TEMPLATE
from dispatch_cli.extract.cpp.preprocessor.tokens import (
    ChainCall,
    CppToken,
    chain_calls,
    inside,
    nesting,
    spelled,
    split,
)
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.registrations import Findings, Infer, Registrar, same_conditions
from dispatch_cli.extract.cpp.scope import LibraryFunction, LibraryFunctions, UnitScope
from dispatch_cli.extract.cpp.simple import LibraryVariable
from dispatch_cli.extract.cpp.values import KernelArgument, kernel_of, key_from, no_value, text_of
from dispatch_cli.extract.work import OverWork, check_size
from dispatch_cli.model.conditions.condition import Atom, Condition, Not
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import ExtractedBlock, Unknown

_KINDS = {"CONSERVATIVE": "CONSERVATIVE", "PURE_FUNCTION": "PURE_FUNCTION", "FROM_SCHEMA": None}
MAX_RESULT = 30
"""Tokens between the parameters of a function and its body."""
_HELPER_TEMPLATE = re.compile(HELPER_TEMPLATE)
_LIBRARY_MACRO = re.compile(r"(?!_?EXECUTORCH)[A-Z0-9_]+_LIBRARY(?:_[A-Z0-9_]+)?")
"""A macro that may stand for a block; ExecuTorch has its own registry."""


class OperatorsReader:
    """Reads ``torch::RegisterOperators().op(...)``, the way of registering that came before ``TORCH_LIBRARY``.

    After aten/src/ATen/core/op_registration/op_registration.h. JIT operators (``torch::jit::RegisterOperators`` with a
    list of ``Operator``) are not registered with the dispatcher. infer: gives the signature of a function.
    """

    def __init__(self, findings: Findings, infer: Infer) -> None:
        self._findings, self._infer = findings, infer

    def op(self, tokens: list[CppToken], arguments: list[list[CppToken]], when: When) -> None:
        """``.op(schema, function)``, ``.op(schema, options)`` or ``.op(options)``."""
        schema: str | None = None
        kernels: list[KernelArgument] = []
        alias: str | None = "default"
        for argument in arguments:
            calls = self._options(argument)
            if calls is None:
                text = text_of(argument, no_value) if schema is None and not kernels else None
                if text is not None:
                    schema = text
                else:
                    kernels.append(kernel_of(argument, no_value))
                continue
            for call in calls:
                if call.name == "schema" and call.arguments:
                    schema = text_of(call.arguments[0], no_value)
                elif call.name in ("kernel", "catchAllKernel"):
                    kernels.append(self._kernel(call))
                elif call.name == "aliasAnalysis" and call.arguments:
                    alias = _KINDS.get(call.arguments[0][-1].text, alias)
                else:
                    self._findings.refuse(call.tokens, f"'{call.name}' of RegisterOperators is not known", when)
        self._findings.account(tokens)
        if schema is None:
            return self._findings.refuse(tokens, "the schema of this operator is not known", when)
        name = schema.partition("(")[0].strip()
        namespace = name.partition("::")[0] if "::" in name else Unknown(name)
        block = ExtractedBlock(LibraryKind.FRAGMENT, namespace, None, tokens[0].at, when, implicit=True)
        self._findings.add(block)
        registrar = Registrar(block, self._findings, no_value, self._infer)
        registrar.define(schema, kernels, tokens[0].at, when, alias)
        return None

    @staticmethod
    def _options(tokens: list[CppToken]) -> list[ChainCall] | None:
        """The calls behind ``RegisterOperators::options()``."""
        for index, token in enumerate(tokens[:-2]):
            if token.text == "options" and tokens[index + 1].text == "(":
                return chain_calls(tokens[inside(tokens, index + 1)[1] :])
            if token.kind != "name" and token.text != "::":
                return None
        return None

    def _kernel(self, call: ChainCall) -> KernelArgument:
        arguments = list(call.arguments)
        key: str | Unknown | None = None
        if call.name == "kernel" and arguments:
            key = key_from(arguments.pop(0), no_value)
        parts = split(call.template)
        if len(parts) == 1:
            kernel = kernel_of(parts[0], no_value)
            if parts[0][0].text == "&":
                kernel = kernel._replace(boxed_only=True)
            else:
                kernel = KernelArgument(spelled(tuple(parts[0])))
        else:
            kernel = kernel_of(parts[1] if parts else arguments[0] if arguments else [], no_value)
        return kernel._replace(key=key if key is not None else kernel.key)


class UnitReader:
    """Reads the registrations of one translation unit."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions, assumed: When) -> None:
        self._unit, self._functions = unit, functions
        self.findings = Findings()
        self._build: When = joined(unit.project.settings(unit.main).when, assumed)
        self._scope = UnitScope(unit, functions)
        self._operators = OperatorsReader(self.findings, self._scope.infer)

    def read(self) -> Findings:
        """Read it. Errors: OverWork, with the place of the construct where that is known; UnclosedMacro."""
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
        self.findings.report_left_out()
        self.findings.account(self._unit.block_macros())
        self.findings.forks |= self._unit.forks
        return self.findings

    def _construct(self, token: CppToken) -> None:
        text = token.text
        if text.startswith("@"):
            if "MAKE_" in text:
                self._library_object(token)
            else:
                self._block(token)
        elif text == "RegisterOperators":
            self._register_operators(token)
        elif text in ("Library", "StableLibrary"):
            self._function(token)
        elif text == "template":
            self._function_template(token)
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
        kind = KINDS[token.text[1:].removeprefix("STABLE_")]
        if len(arguments) != 3:
            return self.findings.refuse(taken, "this block has no namespace, key and name", self._build)
        block = made_block(kind, token, arguments, self._build, self.findings)
        opening = self._unit.next()
        body = self._bracketed([], opening) if opening is not None and opening.text == "{" else None
        if body is None:
            return self.findings.refuse(taken, "the braces of this block are missing or do not match", self._build)
        self.findings.add(block)
        name = arguments[2][-1].text if arguments[2] else ""
        BodyReader(LibraryVariable(name, block), self.findings, self._scope, self._build).read(body[1:-1])
        return None

    def _library_object(self, token: CppToken) -> None:
        """``auto m = MAKE_TORCH_LIBRARY(ns)``, with what follows in its braces: it is not followed."""
        scope = [token]
        depth = 0
        while (following := self._unit.next()) is not None:
            depth += nesting(following)
            if depth < 0:
                break
            scope.append(following)
            check_size(scope)
            if depth == 0 and following.text == ";" and not when_called(token):
                break
        if in_test(token):
            return self.findings.leave_out(scope)
        return self.findings.refuse(
            scope, "what is registered with an object of a library is not followed", self._build
        )

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
        if in_test(token):
            return self.findings.leave_out([token, *first, *rest])
        self.findings.account([token])
        arguments = split(first[1:-1])
        when = joined(joined(token.when, self._build), when_called(token))
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
        opened = function_head(token)
        if opened is None:
            return
        name, head = opened
        depth = sum(nesting(part) for part in head)
        self._unit.enter(depth)
        taken = self._bracketed(head, token, depth)
        following = self._unit.next() if taken is not None else None
        for _ in range(MAX_RESULT):
            if following is None or following.text in ("{", ";", "(", ")", ","):
                break
            following = self._unit.next()
        if taken is None or following is None or following.text != "{":
            return
        body = self._bracketed([], following)
        if body is None:
            return
        parameters = tuple(map(_parameter, split(taken[1:-1])))
        self._functions.add(LibraryFunction(name, parameters, tuple(body[1:-1])))

    def _function_template(self, token: CppToken) -> None:
        """A function template whose parameter may be a library: a call of it in a block is read as such."""
        head = None if token.use is not None else _HELPER_TEMPLATE.match(token.source.blanked, token.offset)
        if head is None:
            return
        opening = self._unit.next()
        while opening is not None and opening.text != "(":
            opening = self._unit.next()
        taken = None if opening is None else self._bracketed([], opening)
        body = None if taken is None else self._bracketed([])
        if taken is not None and body is not None:
            function = LibraryFunction(head["name"], (_parameter(taken[1:-1]),), tuple(body[1:-1]))
            self._scope.templates[function.name] = function

    def _bracketed(
        self, start: list[CppToken], opening: CppToken | None = None, depth: int = 0
    ) -> list[CppToken] | None:
        """The tokens up to the end of the bracket that begins now; None where it does not end."""
        token = opening or self._unit.next()
        if token is None or (depth == 0 and token.text not in ("(", "{")):
            return None
        result = [*start, token]
        depth += nesting(token)
        while depth > 0:
            token = self._unit.next()
            if token is None:
                return None
            depth += nesting(token)
            result.append(token)
            check_size(result)
        return result


def _parameter(tokens: Sequence[CppToken]) -> str:
    """The name of a parameter."""
    names = [token.text for token in tokens]
    if "=" in names:
        names = names[: names.index("=")]
    return names[-1] if names else ""


def assumptions(assumed: dict[str, bool]) -> When:
    """The conditions that say what is assumed."""
    conditions: list[Condition] = [Atom(atom) if true else Not(Atom(atom)) for atom, true in assumed.items()]
    return tuple(conditions)
