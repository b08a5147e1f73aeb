"""``torch.library.Library``: which libraries there are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from math import prod

import dispatch_cli.extract.python.keys as keys
from dispatch_cli.extract.python.arguments import Arguments
from dispatch_cli.extract.python.statements import Statements
from dispatch_cli.extract.python.values import (
    Alternatives,
    LibraryValue,
    Opaque,
    Scope,
    Value,
)
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    ExtractedBlock,
    Unknown,
)

MAX_CHOICES = 32
"""Combinations of the values that the arguments of one call may have."""


class Libraries(Statements):
    """Finds libraries."""

    def choices(
        self,
        given: list[Value],
        keywords: dict[str, Value],
        node: ast.AST,
        scope: Scope,
        act: Callable[[list[Value], dict[str, Value], ast.AST, Scope], Value],
    ) -> Value:
        """Call once for each of the values that an argument may have."""
        several = [len(value.options) for value in (*given, *keywords.values()) if isinstance(value, Alternatives)]
        if prod(several) > MAX_CHOICES:
            self.run.not_known(scope.file, node, "its arguments may have too many values")
            return Opaque(node)
        for place, value in enumerate(given):
            if isinstance(value, Alternatives):
                return self.each(
                    value,
                    lambda v, p=place: self.choices([*given[:p], v, *given[p + 1 :]], keywords, node, scope, act),  # type: ignore[misc]
                )
        for name, value in keywords.items():
            if isinstance(value, Alternatives):
                return self.each(
                    value,
                    lambda v, n=name: self.choices(given, {**keywords, n: v}, node, scope, act),  # type: ignore[misc]
                )
        return act(given, keywords, node, scope)

    # libraries

    def _library(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        given_names = Arguments("ns kind dispatch_key", given, keywords)
        kind = given_names.get("kind")
        if kind not in LibraryKind.__members__:
            self.run.not_known(scope.file, node, "the kind of the library is not known")
            return Opaque(node)
        library = LibraryValue(
            self.block_of(
                LibraryKind[kind],
                keys.text_of(given_names.get("ns"), node),
                keys.key_of(given_names.get("dispatch_key", "")),
                node,
                scope,
            )
        )
        self.run.libraries[library] = node
        return library

    def block_of(
        self,
        kind: LibraryKind,
        namespace: str | Unknown,
        key: str | Unknown | None,
        node: ast.AST,
        scope: Scope,
        implicit: bool = False,
    ) -> ExtractedBlock:
        """A library, found."""
        at = self.run.at(scope.file, node)
        if not implicit:
            at = self.run.span(scope.file, node)
        block = ExtractedBlock(kind, namespace, key, at, self.run.conditions(scope.file), True, implicit)
        self.run.emit(block, node)
        return block

    def _scoped(self, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        """A library that is destroyed where its ``with`` statement ends, and everything it registered with it."""
        arguments = Arguments("ns kind dispatch_key", given, keywords)
        self.run.account(scope.file, node)
        kind = arguments.get("kind")
        block = ExtractedBlock(
            LibraryKind[kind] if kind in LibraryKind.__members__ else LibraryKind.FRAGMENT,
            keys.text_of(arguments.get("ns"), node),
            keys.key_of(arguments.get("dispatch_key", "")),
            self.run.span(scope.file, node),
            python=True,
        )
        return LibraryValue(block, scoped=True)

    def implicit(self, operator: str | Unknown, lib: Value, node: ast.AST, scope: Scope) -> ExtractedBlock | None:
        """The library that a function of ``torch.library`` makes for an operator; None for one that is scoped."""
        if isinstance(lib, LibraryValue):
            return None if lib.scoped else lib.block
        namespace = operator.partition("::")[0] if isinstance(operator, str) else operator
        return self.block_of(LibraryKind.FRAGMENT, namespace, None, node, scope, implicit=True)
