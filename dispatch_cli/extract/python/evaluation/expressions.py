"""The value of an expression, without running anything."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from dispatch_cli.extract.python.annotations import one_of_types, same_type
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.methods import MAX_CHARACTERS, MAX_ITEMS, items_of
from dispatch_cli.extract.python.evaluation.options import MAX_ATOMS, MAX_DEPTH, atom, conditional, is_type, joined
from dispatch_cli.extract.python.evaluation.values import (
    MAX_BITS,
    MAX_PARTS,
    MAX_TYPE_PARTS,
    PARTS,
    Alternatives,
    Dotted,
    FunctionValue,
    NamedSchema,
    Opaque,
    RegistrationQuestion,
    Scope,
    TypeArguments,
    Value,
    constant,
    decided,
    default_nodes,
    size_of,
)
from dispatch_cli.extract.python.evaluation.versions import ByVersion, Version, comparable, condition_of
from dispatch_cli.model.conditions.condition import Atom, Condition, negated

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
_CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda value: value, 97: ascii, 114: repr, 115: str}
"""Functions that ``!a``, ``!r`` and ``!s`` call, by the number that the tree has for them."""
_SPEC = re.compile(r"[<>^]?\d{0,2}[dsxXb]?", re.ASCII)
"""A format of a number or a text that is no wider than two digits say."""
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions:
    """Evaluates expressions."""

    def __init__(self, reader: Evaluator) -> None:
        self._reader = reader
        self._run = reader.run

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        self._run.spend()
        self._run.depth += 1
        try:
            if self._run.depth > MAX_DEPTH:
                return Opaque(node)
            result = self._value(node, scope)
            if isinstance(result, str | list | dict | tuple) and len(result) > 64 and not isinstance(node, ast.Name):
                self._run.spend(len(result) // (PARTS if isinstance(result, str) else 4))
            return result
        except RecursionError:
            return Opaque(node)
        finally:
            self._run.depth -= 1

    def _set(self, node: ast.expr, scope: Scope) -> tuple[Value] | None:
        """Value that ``--set`` gives to the expression, in a tuple; None where it gives none."""
        values = self._run.values(scope.file)
        return values.get(self._run.text(node)) if values else None

    def truth(self, node: ast.expr, scope: Scope) -> bool | Condition:
        """Truth of a test, or the condition under which it holds."""
        match node:
            case ast.BoolOp() if self._set(node, scope) is None:
                if len(node.values) > MAX_ATOMS:
                    return self._atom(node)
                parts = [self.truth(value, scope) for value in node.values]
                return self._joined_truth(parts, isinstance(node.op, ast.And), node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.truth(operand, scope)
                return not inner if isinstance(inner, bool) else negated(inner)
        return self.truth_of(self.value(node, scope), node)

    def truth_of(self, value: Value, node: ast.AST) -> bool | Condition:
        """Truth of a value, or the condition under which it is true."""
        if isinstance(value, Alternatives):
            ways = [[*option.when, self.truth_of(option.value, node)] for option in value.options]
            return self._joined_truth([self._joined_truth(way, True, node) for way in ways], False, node)
        if isinstance(value, ByVersion) and all(map(decided, value.values)):
            return condition_of(list(map(bool, value.values)))
        if isinstance(value, RegistrationQuestion):
            return Atom(value.text)
        if not decided(value):
            return self._atom(node)
        try:
            return bool(value)
        except Exception:  # what a class of Python's own may raise
            return self._atom(node)

    def _joined_truth(self, parts: list[bool | Condition], conjunction: bool, node: ast.AST) -> bool | Condition:
        self._run.spend(1 << min(2 * len(parts), 10))
        whole = joined(parts, conjunction)
        return self._atom(node) if whole is None else whole

    def _atom(self, node: ast.AST) -> Condition:
        return atom(self._run.text(node))

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        if not isinstance(node, ast.Constant) and (setting := self._set(node, scope)) is not None:
            return setting[0]
        match node:
            case ast.Constant():
                return self._bounded(node.value, node)
            case ast.Name():
                return self._reader.look_up(node.id, node, scope)
            case ast.Attribute():
                return self._run.each(
                    self.value(node.value, scope), lambda owner: self._reader.attribute(owner, node.attr, node, scope)
                )
            case ast.Call():
                return self._reader.call(node, scope)
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._collection(node, scope)
            case ast.Dict():
                return self._dictionary(node, scope)
            case ast.BinOp():
                return self._binary(node, scope)
            case ast.Compare() | ast.BoolOp():
                return self._logical(node, scope)
            case ast.UnaryOp():
                return self._unary(node, scope)
            case ast.IfExp():
                return self._either(node, scope)
            case ast.Subscript():
                return self._subscript(node, scope)
            case ast.Lambda():
                defaults = {name: self.value(part, scope) for name, part in default_nodes(node.args).items()}
                return FunctionValue(node, scope, defaults=defaults)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.NamedExpr():
                value = self.value(node.value, scope)
                self._reader.assign(node.target, value, scope)
                return value
        return Opaque(node)

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        """The text of an f-string, for each of the values that its parts may have."""
        result: Value = ""
        for piece in node.values:
            text = self._formatted(piece, scope) if isinstance(piece, ast.FormattedValue) else _text_of(piece)
            result = self._run.pairs(result, text, lambda left, right: self._added(left, right, node))
            if isinstance(result, Opaque):
                return Opaque(node)
        return result

    def _formatted(self, piece: ast.FormattedValue, scope: Scope) -> Value:
        """The text of a part in braces."""
        spec = "" if piece.format_spec is None else self.value(piece.format_spec, scope)
        if not isinstance(spec, str) or _SPEC.fullmatch(spec) is None:
            return Opaque(piece)

        def text(value: Value) -> Value:
            if not constant(value) or (spec and not isinstance(value, str | int)):
                return Opaque(piece)
            try:
                return format(_CONVERSIONS[piece.conversion](value), spec)
            except ValueError:
                return Opaque(piece)

        return self._run.each(self.value(piece.value, scope), text)

    def _added(self, left: Value, right: Value, node: ast.AST) -> Value:
        if not (isinstance(left, str) and isinstance(right, str)):
            return Opaque(node)
        self._run.spend(len(left) // PARTS)
        return self._bounded(left + right, node)

    def _collection(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        values: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self._run.items(self.value(element.value, scope))
                if inner is None or len(values) + len(inner) > MAX_PARTS:
                    return Opaque(node)
                values.extend(inner)
            else:
                values.append(self.value(element, scope))
        if not self._run.affords(values):
            return Opaque(node)
        if isinstance(node, ast.Tuple):
            return tuple(values)
        if isinstance(node, ast.List):
            return values
        try:
            return tuple(dict.fromkeys(values))
        except TypeError:
            return Opaque(node)

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        values: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, scope)
            if key is None:
                if not isinstance(inner, dict) or len(values) + len(inner) > MAX_PARTS:
                    return Opaque(node)
                self._run.spend(len(inner) // PARTS)
                values.update(inner)
                continue
            known = self.value(key, scope)
            if not self._run.affords(known):
                return Opaque(node)
            try:
                values[known] = inner
            except TypeError:
                return Opaque(node)
        return values if self._run.affords(values) else Opaque(node)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        return self._run.each(self.value(node.value, scope), lambda owner: self._item(node, owner, scope))

    def _item(self, node: ast.Subscript, owner: Value, scope: Scope) -> Value:
        if isinstance(node.slice, ast.Slice):
            return self._slice(node, owner, node.slice, scope)
        key = self.value(node.slice, scope)
        if isinstance(owner, str | list | tuple | dict):

            def get(container: Value) -> Value:
                try:
                    return owner[container] if self._run.affords(container) else Opaque(node)
                except (LookupError, TypeError):
                    return Opaque(node)

            return self._run.each(key, get)
        if is_type(owner):
            return self._generic(owner, key if isinstance(key, tuple) else (key,), node)
        return Opaque(node)

    def _slice(self, node: ast.AST, owner: Value, cut: ast.Slice, scope: Scope) -> Value:
        bounds = [None if bound is None else self.value(bound, scope) for bound in (cut.lower, cut.upper, cut.step)]
        if isinstance(owner, str | list | tuple) and all(bound is None or isinstance(bound, int) for bound in bounds):
            try:
                return owner[slice(*bounds)]
            except ValueError:
                pass
        return Opaque(node)

    def _comprehension(self, node: _Comprehension, scope: Scope) -> Value:
        return self._run.each(
            self.value(node.generators[0].iter, scope), lambda first: self._comprehended(node, first, scope)
        )

    def _comprehended(self, node: _Comprehension, first: Value, scope: Scope) -> Value:
        """The value of a comprehension. first: what its first loop goes through."""
        inner = Scope(scope.file, scope)
        values: list[Value] = []

        def go(level: int) -> bool:
            if level == len(node.generators):
                if isinstance(node, ast.DictComp):
                    values.append((self.value(node.key, inner), self.value(node.value, inner)))
                else:
                    values.append(self.value(node.elt, inner))
                return len(values) <= MAX_ITEMS
            generator = node.generators[level]
            items = self._run.items(self.value(generator.iter, inner) if level else first)
            if items is None:
                return False
            for item in items:
                self._run.spend()
                self._reader.assign(generator.target, item, inner)
                tests = [self.truth(test, inner) for test in generator.ifs]
                if False in tests:
                    continue
                if any(test is not True for test in tests) or not go(level + 1):
                    return False
            return True

        if not go(0) or not self._run.affords(values):
            return Opaque(node)
        try:
            if isinstance(node, ast.DictComp):
                return dict(values)
            return tuple(dict.fromkeys(values)) if isinstance(node, ast.SetComp) else values
        except TypeError:
            return Opaque(node)

    # operators

    def _bounded(self, value: Value, node: ast.AST) -> Value:
        if isinstance(value, str | bytes | list | tuple) and len(value) > MAX_CHARACTERS:
            return Opaque(node)
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            return Opaque(node)
        return value

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        return self._run.pairs(
            self.value(node.left, scope),
            self.value(node.right, scope),
            lambda x, y: self._combine(node, x, y),
        )

    def _combine(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, NamedSchema):
            return NamedSchema(left + right.name, right.why, right.refused)
        if isinstance(node.op, ast.BitOr) and (is_type(left) or is_type(right)):
            return self._generic(Dotted("typing.Union"), (left, right), node)
        if isinstance(node.op, ast.Mult):
            sizes = [len(operand) for operand in (left, right) if isinstance(operand, str | bytes | list | tuple)]
            counts = [operand for operand in (left, right) if isinstance(operand, int)]
            if sizes and (not counts or sizes[0] * max(counts) > MAX_ITEMS):
                return Opaque(node)
        return self._operate(node, type(node.op), left, right)

    def _generic(self, origin: Value, arguments: tuple[Value, ...], node: ast.AST) -> Value:
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
            return self._bounded(act(left, right), node)
        except Exception:  # what Python's own operators raise
            return Opaque(node)

    def _logical(self, node: ast.Compare | ast.BoolOp, scope: Scope) -> Value:
        if isinstance(node, ast.BoolOp):
            return self._bool_value(node, scope)
        left = self.value(node.left, scope)
        result: Value = True
        for kind, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node, scope)
            pairs = self._run.pairs(left, right, partial(self._compare, node, kind))
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
            value = self.value(operand, scope)
            truth = self.truth_of(value, operand)
            if isinstance(truth, bool):
                if truth is isinstance(node.op, ast.Or) or place == last:
                    self._run.dead(node.values[place + 1 :], scope.file)
                    return value
                continue
            if not isinstance(value, Alternatives) or place == last:
                return value if place == last else Opaque(node)
            if place == last - 1:
                other = self.value(node.values[last], scope)
                stop = isinstance(node.op, ast.Or)
                return self._run.each(
                    value,
                    lambda v: v if self.truth_of(v, node) is stop else other,  # noqa: B023
                )
            return Opaque(node)
        return Opaque(node)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.truth(node.operand, scope)
            return not truth if isinstance(truth, bool) else conditional([negated(truth)], True, False)
        value = self.value(node.operand, scope)
        if isinstance(value, int | float):
            return -value if isinstance(node.op, ast.USub) else value
        return Opaque(node)

    def _either(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            self._run.dead([node.orelse if test else node.body], scope.file)
            return self.value(node.body if test else node.orelse, scope)
        with self._run.under((test,)):
            first = self.value(node.body, scope)
        with self._run.under((negated(test),)):
            second = self.value(node.orelse, scope)
        return conditional([test], first, second)


def _text_of(piece: ast.expr) -> str:
    """The text of an f-string between its parts in braces."""
    return str(piece.value) if isinstance(piece, ast.Constant) else ""
