"""A call and the end of a block, and the parts of the reader of Python sources as they see each other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import FunctionValue, Scope, Value, ValueOption
from dispatch_cli.model.condition import Condition


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


@dataclass
class Flow:
    """End of a block. ends: the rest of the enclosing block is not reached. after: the conditions of the rest.

    leaves: ``return``, ``break``, ``continue``, ``raise``.
    """

    ends: bool = False
    after: list[Condition] = field(default_factory=list)
    leaves: str = ""


class Evaluator(Protocol):
    """Evaluates expressions and goes through statements. run: what all modules share."""

    run: PythonRun

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""

    def truth(self, node: ast.expr, scope: Scope) -> bool | Condition:
        """Truth of a test, or the condition under which it holds."""

    def truth_of(self, value: Value, node: ast.AST) -> bool | Condition:
        """Truth of a value, or the condition under which it is true."""

    def look_up(self, name: str, node: ast.AST, scope: Scope) -> Value:
        """Value of a name."""

    def known(self, home: Scope, name: str) -> Value:
        """Value of a name of a scope."""

    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        """Value of an attribute of a value."""

    def module(self, file: str) -> Scope:
        """The names of a module."""

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call."""

    def apply(self, function: Value, call: Call) -> Value:
        """Call a value."""

    def decorate(self, function: Value, value: Value, node: ast.AST, scope: Scope) -> Value:
        """Apply a decorator to a function or class."""

    def run_function(self, function: FunctionValue, call: Call) -> Value:
        """Go through the body of a function."""

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a name, the parts of a tuple, an attribute or an item."""

    def block(self, body: Sequence[ast.stmt], scope: Scope, returns: list[ValueOption]) -> Flow:
        """Go through statements in order."""
