"""Truth of tests, as a constant or as a condition; values under conditions."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from dispatch_cli.extract.python.options import (
    MAX_ATOMS,
    MAX_DEPTH,
    all_of,
    atom,
    is_small,
    merged,
)
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.value_size import PARTS
from dispatch_cli.extract.python.values import (
    MAX_NAME,
    Alternatives,
    Opaque,
    RegistrationQuestion,
    Scope,
    Value,
    ValueOption,
    decided,
)
from dispatch_cli.model.condition import Atom, Condition, negated


class TruthValues(ABC):
    """Evaluates expressions. run: what all modules share."""

    run: PythonRun

    def __init__(self, run: PythonRun) -> None:
        self.run = run
        self._depth = 0

    @abstractmethod
    def dead(self, body: Sequence[ast.AST], file: str) -> None: ...

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> Value: ...

    @abstractmethod
    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def look_up(self, name: str, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None: ...

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        self.run.spend()
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                return Opaque(node)
            result = self._value(node, scope)
            if isinstance(result, str | list | dict | tuple) and len(result) > 64 and not isinstance(node, ast.Name):
                self.run.spend(len(result) // (PARTS if isinstance(result, str) else 4))
            return result
        except RecursionError:
            return Opaque(node)
        finally:
            self._depth -= 1

    @abstractmethod
    def _value(self, node: ast.expr, scope: Scope) -> Value: ...

    def _set(self, node: ast.expr, scope: Scope) -> tuple[Value] | None:
        """Value that ``--set`` gives to the expression, in a tuple; None where it gives none."""
        values = self.run.values(scope.file)
        return values.get(self.run.text(node)) if values else None

    def each(self, value: Value, act: Callable[[Value], Value]) -> Value:
        """Do something for each of the values that there may be, under its conditions."""
        if not isinstance(value, Alternatives):
            return act(value)
        options = []
        for option in value.options:
            with self.run.under(option.when) as possible:
                if possible:
                    options.append(ValueOption(option.when, act(option.value)))
        return merged(options)

    def holding(self, value: Value) -> Value:
        """Select the possible value whose conditions hold here, if it is known."""
        if isinstance(value, Alternatives):
            self.run.spend(len(value.options) * (1 + len(self.run.when) // 4))
            for option in value.options:
                if all(condition in self.run.when for condition in option.when):
                    return option.value
        return value

    def truth(self, node: ast.expr, scope: Scope) -> bool | Condition:
        """Truth of a test, or the condition under which it holds."""
        match node:
            case ast.BoolOp() if self._set(node, scope) is None:
                parts = [self.truth(value, scope) for value in node.values[:MAX_ATOMS]]
                whole = all_of(parts, isinstance(node.op, ast.And))
                if len(node.values) > MAX_ATOMS or not (isinstance(whole, bool) or is_small(whole)):
                    return self._atom(node)
                return whole
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.truth(operand, scope)
                return not inner if isinstance(inner, bool) else negated(inner)
        return self.truth_of(self.value(node, scope), node)

    def question(self, text: str, operator: str, node: ast.AST, scope: Scope) -> Value:
        """A test that asks whether something is registered for an operator already."""
        if (setting := self.run.values(scope.file).get(text)) is not None:
            return setting[0]
        if len(text) > MAX_NAME:
            return Opaque(node)
        self.run.questions[text] = operator
        return RegistrationQuestion(node, text)

    def truth_of(self, value: Value, node: ast.AST) -> bool | Condition:
        """Truth of a value, or the condition under which it is true."""
        if isinstance(value, Alternatives):
            parts: list[bool | Condition] = []
            for option in value.options:
                own = self.truth_of(option.value, node)
                if own is False:
                    continue
                when = [*option.when, *([] if own is True else [own])]
                parts.append(all_of(list(when), True))
            whole = all_of(parts, False)
            return whole if isinstance(whole, bool) or is_small(whole) else self._atom(node)
        if isinstance(value, RegistrationQuestion):
            return Atom(value.text)
        if not decided(value):
            return self._atom(node)
        try:
            return bool(value)
        except Exception:  # what a class of Python's own may raise
            return self._atom(node)

    def _atom(self, node: ast.AST) -> Condition:
        return atom(self.run.text(node))

    def pairs(self, left: Value, right: Value, act: Callable[[Value, Value], Value]) -> Value:
        """Do something for each pair of values that there may be."""
        return self.each(left, lambda first: self.each(right, lambda second: act(first, second)))
