"""A call, with the values of its arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from dispatch_cli.extract.python.values import Scope, Value


@dataclass(frozen=True)
class Call:
    """A call. given: the arguments without a name. node, scope: where it is."""

    given: list[Value]
    keywords: dict[str, Value]
    node: ast.AST
    scope: Scope

    @property
    def file(self) -> str:
        return self.scope.file

    def arguments(self, order: str) -> dict[str, Value]:
        """The arguments by name. order: the names of the parameters."""
        return {**dict(zip(order.split(), self.given, strict=False)), **self.keywords}

    def of(self, /, *given: Value, **keywords: Value) -> Call:
        """A call with other arguments at the same place."""
        return replace(self, given=list(given), keywords=keywords)

    def with_argument(self, slot: int | str, value: Value) -> Call:
        """A call with another value of one argument."""
        given, keywords = [*self.given], {**self.keywords}
        if isinstance(slot, int):
            given[slot] = value
        else:
            keywords[slot] = value
        return replace(self, given=given, keywords=keywords)
