"""The parts of the reader of Python sources, as they see each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from dispatch_cli.extract.python.evaluation.values import Call, FunctionValue, Scope, Value
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.conditions.condition import Condition


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
    block: Callable[[Sequence[ast.stmt], Scope], Any]
