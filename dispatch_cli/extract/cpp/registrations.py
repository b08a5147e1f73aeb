"""Registrations of C++ sources: what the readers find, and what the calls on a library register."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from dispatch_cli.extract.cpp.preprocessor.conditions import When, joined
from dispatch_cli.extract.cpp.preprocessor.macro_table import MacroTable
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, Lookup, chain_calls, spelled
from dispatch_cli.extract.cpp.values import CATCH_ALL, KernelArgument, kernel_of, key_from, schema_of, tags_of, text_of
from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.declarations import WILDCARD, NotUnderstood
from dispatch_cli.model.sources.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Unknown,
)
from dispatch_cli.model.span import Span

_MARKS = frozenset({"impl", "def", "fallback", "op", "RegisterOperators", "kernel", "catchAllKernel", "schema"})
FromCpp = ExtractedBlock | ExtractedDefinition | ExtractedKernel | ExtractedFallback
Infer = Callable[[Sequence[CppToken], bool], "str | None"]
_TAGS = re.compile(r"(?i:(?:\b|_)tags?(?:\b|_))|[a-z]Tags?(?:[A-Z_]|\b)")
"""In the name of a variable or macro that stands for tags."""


class Findings:
    """Registrations, statements that are not understood, and the places that are accounted for."""

    def __init__(self) -> None:
        self.items: dict[FromCpp, None] = {}
        self.not_understood: dict[NotUnderstood, None] = {}
        self.accounted: set[tuple[str, int]] = set()

    def add(self, item: FromCpp) -> None:
        """Keep a registration."""
        self.items[item] = None

    def refuse(self, tokens: Sequence[CppToken], why: str, when: Sequence[Condition] = (), bound: bool = False) -> None:
        """Keep a statement that is not understood. bound: as in `NotUnderstood`."""
        first = tokens[0]
        text = spelled(list(tokens[:80]))
        self.not_understood[NotUnderstood(first.at, text, why, joined(first.when, when), bound)] = None
        self.account(tokens)

    def account(self, tokens: Iterable[CppToken]) -> None:
        """Note that the registrations among *tokens* have been looked at."""
        for token in tokens:
            if token.kind == "name" and (token.text in _MARKS or "_LIBRARY" in token.text):
                if not token.source.name.startswith("<"):  # it is built in
                    self.accounted.add((token.source.name, token.source.line(token.offset)))
                if token.use is not None:
                    source, offset = token.use
                    self.accounted.add((source.name, source.line(offset)))


def same_conditions(tokens: Sequence[CppToken]) -> bool:
    """True if one condition holds for all of *tokens*."""
    first: When = tokens[0].when if tokens else ()
    return all(token.when is first or token.when == first for token in tokens)


def is_under(token: CppToken, when: When) -> bool:
    """True if all that *when* says has to hold for the token."""
    return token.when is when or all(condition in token.when for condition in when)


class Registrar:
    """Reads the calls on the library of one block.

    lookup: gives the values of local names. infer: gives the signature of a function. table: the macros.
    """

    def __init__(
        self, block: ExtractedBlock, findings: Findings, lookup: Lookup, infer: Infer, table: MacroTable
    ) -> None:
        self._block, self._findings, self._lookup, self._table = block, findings, lookup, table
        self.infer = infer
        self._python_module: tuple[str, ...] = ()

    def chain(self, tokens: Sequence[CppToken], when: When) -> None:
        """Read ``m.def(...).impl(...)``; *when*: the conditions of the statement."""
        calls = chain_calls(tokens[1:])
        if calls is None:
            return self._findings.refuse(tokens, "this is not a call of the library", when)
        for call in calls:
            name, arguments = call.name, call.arguments
            whole = tokens[: len(call.tokens) + 1] if call is calls[0] else call.tokens
            if name == "def" and arguments:
                self._define(whole, arguments, when)
            elif name in ("impl", "impl_UNBOXED") and len(arguments) >= 2:
                self._implement(whole, arguments, when)
            elif name == "fallback" and arguments:
                self._fallback(whole, arguments, when)
            elif name in ("set_python_module", "impl_abstract_pystub") and arguments:
                self._set_module(arguments)
            else:
                self._findings.refuse(whole, f"'{name}' of a library is not known", when)
            self._findings.account(whole)
        return None

    def _set_module(self, arguments: Sequence[Sequence[CppToken]]) -> None:
        """Note the Python module of the operators that are defined from here on; one that is not known is none."""
        module, *context = (text_of(argument, self._lookup) for argument in arguments[:2])
        self._python_module = (module, *filter(None, context)) if module else ()

    def _define(self, tokens: Sequence[CppToken], arguments: Sequence[Sequence[CppToken]], when: When) -> None:
        schema, alias = schema_of(arguments[0], self._lookup)
        tags: tuple[str, ...] = ()
        kernel: KernelArgument | None = None
        for argument in arguments[1:]:
            given_tags = tags_of(argument, self._lookup)
            if given_tags is not None:
                tags = tuple(tag for tag in given_tags if tag)
                if len(tags) < len(given_tags):
                    self._findings.refuse(tokens, "a tag of this definition is not known", when)
            elif kernel is None and self._is_value(argument):
                why = f"the value of '{argument[0].text}' is not known: tags, or a kernel"
                self._findings.refuse(tokens, why, when)
            elif kernel is None:
                kernel = kernel_of(argument, self._lookup)
            else:
                self._findings.refuse(tokens, "the arguments of this 'def' are not known", when)
                return
        if schema is not None and "(" not in schema and alias is None:
            alias = "CONSERVATIVE"
        named = Unknown(spelled(tuple(arguments[0]))) if schema is None else schema
        self.define(named, kernel, tokens[0].at, when, alias, tags)

    def _is_value(self, argument: Sequence[CppToken]) -> bool:
        """True for the name of a macro or a variable, unless that looks like a function."""
        if len(argument) != 1 or argument[0].kind != "name":
            return False
        name = argument[0].text
        value = self._lookup(name)
        if value:
            return value[0].text not in ("[", "+")  # a lambda
        return value is not None or name in self._table.ambiguous or _TAGS.search(name) is not None

    def define(
        self,
        schema: str | Unknown,
        kernel: KernelArgument | None,
        at: Span,
        when: When,
        alias_analysis: str | None,
        tags: tuple[str, ...] = (),
    ) -> None:
        """Define an operator by its schema, or by its name and the C++ signature of its kernel."""
        text, why = None, None
        if isinstance(schema, Unknown):
            name: str | Unknown = schema
            why = f"the schema is the value of '{schema.expression}', which is not known"
        else:
            head, opening, rest = schema.partition("(")
            name = self._qualified(head.strip())
            if opening:
                text = f"{name if isinstance(name, str) else head.strip()}({rest}".strip()
            elif kernel and (inferred := self.infer(kernel.function_tokens, True)) and isinstance(name, str):
                text = name + inferred
            else:
                why = "it is inferred from a C++ function whose signature is not known"
        self._findings.add(
            ExtractedDefinition(self._block, name, text, at, when, tags, alias_analysis, why, self._python_module)
        )
        if kernel is not None:
            self._add_kernel(name, kernel, at, when)

    def _implement(self, tokens: Sequence[CppToken], arguments: Sequence[Sequence[CppToken]], when: When) -> None:
        name = text_of(arguments[0], self._lookup)
        operator = Unknown(spelled(tuple(arguments[0]))) if name is None else self._qualified(name.strip())
        rest = arguments[1:]
        if len(rest) > 1:
            kernel = kernel_of(rest[1], self._lookup)._replace(key=key_from(rest[0]))
        else:
            kernel = kernel_of(rest[0], self._lookup)
        self._add_kernel(operator, kernel, tokens[0].at, when)

    def _fallback(self, tokens: Sequence[CppToken], arguments: Sequence[Sequence[CppToken]], when: When) -> None:
        kernel = kernel_of(arguments[0], self._lookup)
        key = kernel.key or self._block.dispatch_key or Unknown("none, which a fallback needs")
        self._findings.add(ExtractedFallback(self._block, key, kernel.function, tokens[0].at, when, kernel.fallthrough))

    def _add_kernel(self, operator: str | Unknown, kernel: KernelArgument, at: Span, when: When) -> None:
        key = self._block.dispatch_key if kernel.key is None else kernel.key
        if isinstance(key, str) and key in CATCH_ALL:
            key = None
        signature = None if kernel.boxed_only or kernel.fallthrough else self.infer(kernel.function_tokens, False)
        self._findings.add(
            ExtractedKernel(
                self._block, operator, key, kernel.function, at, when, kernel.fallthrough, signature, kernel.boxed_only
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
