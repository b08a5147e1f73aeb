"""Conditions under which a running PyTorch's own functions for fake tensors raise, from their source.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Iterator

NOT_IMPLEMENTED = "NotImplementedError"


def raised(function: Any, operator: Any) -> str | None:
    """The exception that the mode's own function raises for an operator, in a mode without a ShapeEnv."""
    return _raised_always(function) or _raised_without(function, operator)


def _raised_always(function: Any) -> str | None:
    """The exception that the mode's own function raises, in a mode without a ShapeEnv; None where it raises none.

    Either the function does nothing else, for the operators that it is registered for; or it, or a function of its
    module that it calls, raises where ``fake_mode.shape_env is None``.
    """
    definition = definition_of(function)
    body = [] if definition is None else definition.body
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:  # it asks whether it is one of them
        body = body[0].body
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return _name_of_exception(body[0])
    module = getattr(inspect.unwrap(function), "__globals__", {})
    called = [definition]
    for statement in _reached(definition):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            other = module.get(value.func.id)
            called += [definition_of(other)] if inspect.isfunction(other) else []
    return next((exception for callee in called if (exception := _without_shapes(callee)) is not None), None)


def _raised_without(function: Any, operator: Any) -> str | None:
    """The exception that the function raises for an operator that lacks an argument: ``"size" not in given``."""
    definition = definition_of(function)
    names = {argument.name for argument in operator._schema.arguments}
    for statement in () if definition is None else definition.body:
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn):
            first, name = statement.body[0], getattr(test.left, "value", None)
            if isinstance(first, ast.Raise) and isinstance(name, str) and name not in names:
                return _name_of_exception(first)
    return None


def refused(function: Any) -> list[str]:
    """The arguments of a Python meta function for which it raises NotImplementedError as soon as they are given."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if NOT_IMPLEMENTED not in getattr(code, "co_names", ()):  # most functions; to find their sources takes long
        return []
    definition = definition_of(function)
    names = []
    for statement in () if definition is None else definition.body:
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
            first = statement.body[0]
            is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
            if isinstance(test.left, ast.Name) and is_none and isinstance(first, ast.Raise):
                names += [test.left.id] if _name_of_exception(first) == NOT_IMPLEMENTED else []
    return names


def definition_of(function: Any) -> ast.FunctionDef | None:
    """The source of a function; None where it is not known."""
    try:
        statement = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef) else None


def _reached(definition: ast.FunctionDef | None) -> Iterator[ast.stmt]:
    """The statements that a call comes to which is given only what it needs, as far as no other test decides."""
    if definition is None:
        return
    given = {argument.arg for argument in [*definition.args.args, *definition.args.kwonlyargs]}
    waiting = list(reversed(definition.body))
    while waiting:
        statement = waiting.pop()
        yield statement
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
            subject = test.left.value if isinstance(test.left, ast.NamedExpr) else test.left
            subject = subject.value if isinstance(subject, ast.Attribute) else subject
            if isinstance(subject, ast.Name) and subject.id in given:
                waiting += reversed(statement.body)


def _without_shapes(definition: ast.FunctionDef | None) -> str | None:
    """Name of the exception that a function raises where the mode has no ShapeEnv."""
    for statement in _reached(definition):
        if isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise):
            tests = [node for node in ast.walk(statement.test) if isinstance(node, ast.Compare)]
            if any(isinstance(test.ops[0], ast.Is) and getattr(test.left, "attr", "") == "shape_env" for test in tests):
                return _name_of_exception(statement.body[0])
    return None


def _name_of_exception(statement: ast.Raise) -> str | None:
    called = getattr(statement.exc, "func", None)
    return getattr(called, "id", None) or getattr(called, "attr", None)
