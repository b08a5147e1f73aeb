"""Calls of a ``torch::Library``: ``m.def``, ``m.impl``, ``m.fallback`` and their chains."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.extract.cpp.brackets import inside, split
from dispatch_cli.extract.cpp.context import When, joined
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.kernels import KernelArgument, kernel_of, key_from
from dispatch_cli.extract.cpp.keys import CATCH_ALL, key_of
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.extract.cpp.values import Lookup, schema_of, tags_of, text_of
from dispatch_cli.model.declarations import WILDCARD
from dispatch_cli.model.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Unknown,
)
from dispatch_cli.model.span import Span

_NO_EFFECT = frozenset({"set_python_module", "impl_abstract_pystub", "class_", "def_static", "def_property"})


class Registrar:
    """Reads the calls on the library of one block."""

    def __init__(self, block: ExtractedBlock, findings: Findings, lookup: Lookup) -> None:
        self._block, self._findings, self._lookup = block, findings, lookup

    def chain(self, tokens: Sequence[CppToken], when: When) -> None:
        """Read ``m.def(...).impl(...)``; *when*: the conditions of the statement."""
        index = 1
        while index < len(tokens):
            if tokens[index].text not in (".", "->") or index + 1 == len(tokens):
                return self._findings.refuse(tokens[index:], "this is not a call of the library", when)
            start = index
            method = tokens[index + 1]
            index += 2
            if index < len(tokens) and tokens[index].text == "template":
                method, index = tokens[index], index + 1
            while index < len(tokens) and tokens[index].text != "(":
                index += 1
            if index == len(tokens):
                return self._findings.refuse(tokens[start:], "this is not a call of the library", when)
            body, index = inside(tokens, index)
            whole = tokens[start - 1 if start == 1 else start : index]
            arguments = split(body)
            if method.text == "def" and arguments:
                self._define(whole, arguments, when)
            elif method.text == "impl" and len(arguments) >= 2:
                self._implement(whole, arguments, when)
            elif method.text in ("impl_UNBOXED", "fallback") and arguments:
                if method.text == "fallback":
                    self._fallback(whole, arguments, when)
                else:
                    self._implement(whole, arguments, when)
            elif method.text in _NO_EFFECT:
                self._findings.account(tokens)
                if method.text == "class_":
                    return None  # what follows belongs to the class
            else:
                self._findings.refuse(whole, f"'{method.text}' of a library is not known", when)
            self._findings.account(whole)
        return None

    def _define(self, tokens: Sequence[CppToken], arguments: list[list[CppToken]], when: When) -> None:
        schema = schema_of(arguments[0], self._lookup)
        tags: tuple[str, ...] = ()
        kernel: KernelArgument | None = None
        for argument in arguments[1:]:
            found = tags_of(argument, self._lookup)
            if found is not None:
                tags = found
            elif kernel is None:
                kernel = kernel_of(argument, self._lookup)
            elif "RegisterOrVerify" not in spelled(tuple(argument)) and spelled(tuple(argument)) != "rv":
                self._findings.refuse(tokens, "the arguments of this 'def' are not known", when)
                return
        at = tokens[0].at
        why = None
        name: str | Unknown
        text = schema.text
        if text is None:
            shown = spelled(tuple(arguments[0]))
            name, why = Unknown(shown), f"the schema is the value of '{shown}', which is not known"
            self._note(arguments[0])
        else:
            name = self._qualified(text.partition("(")[0].strip())
            if "(" in text:
                text = self._with_namespace(text)
            else:
                text, why = None, "it is inferred from the C++ function, which is not found in the sources"
        self._findings.add(ExtractedDefinition(self._block, name, text, at, when, tags, schema.alias_analysis, why))
        if kernel is not None:
            self._add_kernel(name, kernel, kernel.key, at, when)

    def _implement(self, tokens: Sequence[CppToken], arguments: list[list[CppToken]], when: When) -> None:
        name = text_of(arguments[0], self._lookup)
        operator: str | Unknown
        if name is None:
            operator = Unknown(spelled(tuple(arguments[0])))
            self._note(arguments[0])
        else:
            operator = self._qualified(name.strip())
        rest = arguments[1:]
        key: str | Unknown | None = None
        if len(rest) > 1 and (key_of(rest[0]) is not None or "RegisterOrVerify" not in spelled(tuple(rest[1]))):
            key = key_from(rest[0], self._lookup)
            rest = rest[1:]
        kernel = kernel_of(rest[0], self._lookup)
        self._add_kernel(operator, kernel, key if key is not None else kernel.key, tokens[0].at, when)

    def _fallback(self, tokens: Sequence[CppToken], arguments: list[list[CppToken]], when: When) -> None:
        kernel = kernel_of(arguments[0], self._lookup)
        key = kernel.key if kernel.key is not None else self._block.dispatch_key
        if key is None:
            self._findings.refuse(tokens, "a fallback needs a dispatch key", when)
            return
        self._findings.add(ExtractedFallback(self._block, key, kernel.function, tokens[0].at, when, kernel.fallthrough))

    def _add_kernel(
        self, operator: str | Unknown, kernel: KernelArgument, key: str | Unknown | None, at: Span, when: When
    ) -> None:
        if key is None:
            key = self._block.dispatch_key
        if isinstance(key, str) and key in CATCH_ALL:
            key = None
        self._findings.add(
            ExtractedKernel(
                self._block,
                operator,
                key,
                kernel.function,
                at,
                when,
                kernel.fallthrough,
                None,
                kernel.boxed_only,
            )
        )

    def _qualified(self, name: str) -> str | Unknown:
        """The name with the namespace of the block."""
        if "::" in name:
            return name
        namespace = self._block.namespace
        if isinstance(namespace, Unknown):
            return Unknown(f"{namespace.expression}::{name}")
        return name if namespace == WILDCARD else f"{namespace}::{name}"

    def _with_namespace(self, schema: str) -> str:
        head, opening, rest = schema.partition("(")
        name = self._qualified(head.strip())
        return f"{name if isinstance(name, str) else head.strip()}{opening}{rest}".strip()

    def _note(self, tokens: Sequence[CppToken]) -> None:
        for token in tokens:
            if token.kind == "name" and token.text.isupper() and len(token.text) > 2:
                self._findings.missing[token.text] += 1


def with_conditions(tokens: Sequence[CppToken], when: When) -> When:
    """The conditions of a statement."""
    return joined(tokens[0].when, when)
