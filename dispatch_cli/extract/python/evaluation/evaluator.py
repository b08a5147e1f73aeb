"""A call and the end of a block, and the parts of the reader of Python sources as they see each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dispatch_cli.extract.python.evaluation.values import FunctionValue, Scope, Value, ValueOption
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.conditions.condition import Condition


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


class Evaluator:
    """The parts of the reader, as they see each other.

    run: what all modules share. value: of an expression. truth: of a test, or the condition under which it holds;
    truth_of: that of a value. look_up: the value of a name; known: of one that a scope has; attribute: of an attribute
    of a value. module: the names of a module, by its file. call: the value of a call; apply: calls a value; decorate:
    applies a decorator to a function or class; run_function: goes through the body of a function. assign: binds a name,
    the parts of a tuple, an attribute or an item. block: goes through statements in order.
    """

    run: PythonRun
    value: Callable[[ast.expr, Scope], Value]
    truth: Callable[[ast.expr, Scope], bool | Condition]
    truth_of: Callable[[Value, ast.AST], bool | Condition]
    look_up: Callable[[str, ast.AST, Scope], Value]
    known: Callable[[Scope, str], Value]
    attribute: Callable[[Value, str, ast.AST, Scope], Value]
    module: Callable[[str], Scope]
    call: Callable[[ast.Call, Scope], Value]
    apply: Callable[[Value, Call], Value]
    decorate: Callable[[Value, Value, ast.AST, Scope], Value]
    run_function: Callable[[FunctionValue, Call], Value]
    assign: Callable[[ast.expr, Value, Scope], None]
    block: Callable[[Sequence[ast.stmt], Scope, list[ValueOption]], Flow]
