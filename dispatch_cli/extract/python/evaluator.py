"""The parts of the reader of Python sources, as they see each other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol

from dispatch_cli.extract.python.call import Call
from dispatch_cli.extract.python.flow import Flow
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import FunctionValue, Scope, Value, ValueOption
from dispatch_cli.model.condition import Condition


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
