"""The value of operators."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from dispatch_cli.extract.python.annotations import one_of_types, same_type
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.methods import MAX_CHARACTERS, MAX_ITEMS, items_of
from dispatch_cli.extract.python.evaluation.options import (
    conditional,
    is_type,
)
from dispatch_cli.extract.python.evaluation.values import (
    MAX_BITS,
    MAX_TYPE_PARTS,
    PARTS,
    Alternatives,
    Dotted,
    NamedSchema,
    Opaque,
    Scope,
    TypeArguments,
    Value,
    constant,
    size_of,
)
from dispatch_cli.extract.python.evaluation.versions import Version, comparable
from dispatch_cli.model.conditions.condition import negated

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Operations:
    """Evaluates operators."""

    def __init__(self, reader: Evaluator) -> None:
        self._reader = reader
        self._run = reader.run

    def bounded(self, value: Value, node: ast.AST) -> Value:
        if isinstance(value, str | bytes | list | tuple) and len(value) > MAX_CHARACTERS:
            return Opaque(node)
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            return Opaque(node)
        return value

    def binary(self, node: ast.BinOp, scope: Scope) -> Value:
        return self._run.pairs(
            self._reader.value(node.left, scope),
            self._reader.value(node.right, scope),
            lambda x, y: self._combine(node, x, y),
        )

    def _combine(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, NamedSchema):
            return NamedSchema(left + right.name, right.why, right.refused)
        if isinstance(node.op, ast.BitOr) and (is_type(left) or is_type(right)):
            return self.generic(Dotted("typing.Union"), (left, right), node)
        if isinstance(node.op, ast.Mult):
            sizes = [len(operand) for operand in (left, right) if isinstance(operand, str | bytes | list | tuple)]
            counts = [operand for operand in (left, right) if isinstance(operand, int)]
            if sizes and (not counts or sizes[0] * max(counts) > MAX_ITEMS):
                return Opaque(node)
        return self._operate(node, type(node.op), left, right)

    def generic(self, origin: Value, arguments: tuple[Value, ...], node: ast.AST) -> Value:
        """A generic type with its arguments."""
        generic_type = TypeArguments(origin, arguments)
        fits = self._run.affords(generic_type) and size_of(generic_type) <= MAX_TYPE_PARTS
        return generic_type if fits else Opaque(node)

    def _operate(self, node: ast.AST, kind: type[ast.AST], left: Value, right: Value) -> Value:
        act = _OPERATORS.get(kind)
        if act is None or not all(constant(side) or isinstance(side, list | tuple | dict) for side in (left, right)):
            return Opaque(node)
        if issubclass(kind, ast.cmpop) and not self._run.affords(left, right):
            return Opaque(node)
        if issubclass(kind, ast.cmpop) and (isinstance(left, Version) or isinstance(right, Version)):
            left, right = comparable(left, right)
        try:
            return self.bounded(act(left, right), node)
        except Exception:  # what Python's own operators raise
            return Opaque(node)

    def logical(self, node: ast.Compare | ast.BoolOp, scope: Scope) -> Value:
        if isinstance(node, ast.BoolOp):
            return self._bool_value(node, scope)
        left = self._reader.value(node.left, scope)
        result: Value = True
        for kind, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._reader.value(right_node, scope)
            pairs = self._run.pairs(left, right, lambda a, b, k=kind: self._compare(node, k, a, b))  # type: ignore[misc]
            if not isinstance(pairs, bool):
                return pairs if len(node.ops) == 1 else Opaque(node)
            result, left = result and pairs, right
        return result

    def _compare(self, node: ast.AST, kind: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(kind, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and (same := same_type(left, right)) is not None:
            return same is isinstance(kind, ast.Is | ast.Eq)
        if isinstance(kind, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and (left is None or right is None):
            other = right if left is None else left
            if isinstance(other, Dotted) and other.name.startswith("torch.ops."):
                return not isinstance(kind, ast.Is | ast.Eq)
            if isinstance(other, Opaque) or (isinstance(other, Dotted) and other.name not in self._run.modules):
                return Opaque(node)
            return (other is None) is isinstance(kind, ast.Is | ast.Eq)
        if isinstance(kind, ast.Is | ast.IsNot) and isinstance(left, bool) and isinstance(right, bool):
            return (left is right) is isinstance(kind, ast.Is)
        if isinstance(kind, ast.In | ast.NotIn):
            items = right if isinstance(right, str) else items_of(right)
            self._run.spend(len(items or ()) // (1 if isinstance(items, list) else PARTS))
            if isinstance(items, list) and (among := one_of_types(left, items)) is not None:
                return among is isinstance(kind, ast.In)
            if items is None or not constant(left) or (isinstance(right, str) and not isinstance(left, str)):
                return Opaque(node)
            if not isinstance(items, str) and not (all(map(constant, items)) and self._run.affords(items, left)):
                return Opaque(node)
            return (left in items) is isinstance(kind, ast.In)
        if isinstance(left, Dotted) and left == right and isinstance(kind, ast.Is | ast.Eq):
            return True
        return self._operate(node, type(kind), left, right)

    def _bool_value(self, node: ast.BoolOp, scope: Scope) -> Value:
        last = len(node.values) - 1
        for place, operand in enumerate(node.values):
            value = self._reader.value(operand, scope)
            truth = self._reader.truth_of(value, operand)
            if isinstance(truth, bool):
                if truth is isinstance(node.op, ast.Or) or place == last:
                    self._run.dead(node.values[place + 1 :], scope.file)
                    return value
                continue
            if not isinstance(value, Alternatives) or place == last:
                return value if place == last else Opaque(node)
            if place == last - 1:
                other = self._reader.value(node.values[last], scope)
                stop = isinstance(node.op, ast.Or)
                return self._run.each(
                    value,
                    lambda v: v if self._reader.truth_of(v, node) is stop else other,  # noqa: B023
                )
            return Opaque(node)
        return Opaque(node)

    def unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self._reader.truth(node.operand, scope)
            return not truth if isinstance(truth, bool) else conditional([negated(truth)], True, False)
        value = self._reader.value(node.operand, scope)
        if isinstance(value, int | float):
            return -value if isinstance(node.op, ast.USub) else value
        return Opaque(node)

    def either(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self._reader.truth(node.test, scope)
        if isinstance(test, bool):
            self._run.dead([node.orelse if test else node.body], scope.file)
            return self._reader.value(node.body if test else node.orelse, scope)
        with self._run.under((test,)):
            first = self._reader.value(node.body, scope)
        with self._run.under((negated(test),)):
            second = self._reader.value(node.orelse, scope)
        return conditional([test], first, second)
