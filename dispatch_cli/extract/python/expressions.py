"""The value of an expression, without running anything."""

from __future__ import annotations

import ast
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from dispatch_cli.extract.python.methods import MAX_ITEMS, constant_method, format_constant, items_of
from dispatch_cli.extract.python.run import PythonRun, TooManySteps
from dispatch_cli.extract.python.values import (
    Alternatives,
    Bound,
    Dotted,
    FunctionValue,
    NamedSchema,
    Opaque,
    Scope,
    TypeArguments,
    Value,
    ValueOption,
    constant,
    decided,
    source_text,
)
from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, negated

_JOINED = re.compile(r"\b(?:and|or)\b|^not\b")

MAX_DEPTH = 120
"""How deeply expressions, statements and calls nest together."""
MAX_OPTIONS = 8
"""Values that one name may have under different conditions."""

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
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


class Expressions(ABC):
    """Evaluates expressions. run: what all modules share."""

    run: PythonRun

    def __init__(self, run: PythonRun) -> None:
        self.run = run
        self._depth = 0

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
        self.run.step()
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                return Opaque(node)
            return self._value(node, scope)
        except RecursionError:
            return Opaque(node)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._set(node, scope) or self.look_up(node.id, node, scope)
            case ast.Attribute():
                return self._set(node, scope) or self.each(
                    self.value(node.value, scope), lambda owner: self.attribute(owner, node.attr, node, scope)
                )
            case ast.Call():
                return self._set(node, scope) or self.call(node, scope)
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
                return FunctionValue(node, scope, defaults=tuple(self.value(one, scope) for one in node.args.defaults))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.NamedExpr():
                found = self.value(node.value, scope)
                self.assign(node.target, found, scope)
                return found
            case ast.Starred():
                return self.value(node.value, scope)
        return Opaque(node)

    def _set(self, node: ast.expr, scope: Scope) -> Value:
        """What ``--set`` says that the expression is."""
        values = self.run.values(scope.file)
        if not values:
            return None
        found = values.get(source_text(node))
        return found[0] if found else None

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

    def truth(self, node: ast.expr, scope: Scope) -> bool | Condition:
        """Whether a test holds, or the condition under which it does."""
        match node:
            case ast.BoolOp():
                return self._all_of([self.truth(one, scope) for one in node.values], isinstance(node.op, ast.And))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.truth(operand, scope)
                return not inner if isinstance(inner, bool) else negated(inner)
        return self.truth_of(self.value(node, scope), node)

    def truth_of(self, value: Value, node: ast.AST) -> bool | Condition:
        """Whether a value is true, or the condition under which it is."""
        if isinstance(value, Alternatives):
            parts: list[bool | Condition] = []
            for option in value.options:
                own = self.truth_of(option.value, node)
                if own is False:
                    continue
                when = [*option.when, *([] if own is True else [own])]
                parts.append(self._all_of(list(when), True))
            return self._all_of(parts, False)
        if not decided(value):
            return atom(node)
        try:
            return bool(value)
        except Exception:  # what a class of Python's own may raise
            return atom(node)

    @staticmethod
    def _all_of(parts: list[bool | Condition], conjunction: bool) -> bool | Condition:
        left: list[Condition] = []
        for part in parts:
            if isinstance(part, bool):
                if part is not conjunction:
                    return part
            elif part not in left:
                left.append(part)
        for one in left:
            if negated(one) in left:
                return not conjunction
        if not conjunction:
            left = [_without(one, [negated(other) for other in left if other is not one]) for one in left]
        if not left:
            return conjunction
        if len(left) == 1:
            return left[0]
        return And(tuple(left)) if conjunction else Or(tuple(left))

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts: list[str] = []
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
                continue
            assert isinstance(piece, ast.FormattedValue)
            found = self.value(piece.value, scope)
            if isinstance(found, Alternatives):
                return Opaque(node) if len(node.values) > 20 else self._joined_each(node, scope)
            text = format_constant(found, piece, lambda one: self.value(one, scope))
            if text is None:
                return Opaque(node)
            parts.append(text)
        return self._bounded("".join(parts), node)

    def _joined_each(self, node: ast.JoinedStr, scope: Scope) -> Value:
        result: Value = ""
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                found: Value = str(piece.value)
            else:
                assert isinstance(piece, ast.FormattedValue)
                of_piece = piece
                found = self.each(
                    self.value(piece.value, scope),
                    lambda one, of=of_piece: (
                        Opaque(of)  # type: ignore[misc]
                        if (text := format_constant(one, of, lambda part: self.value(part, scope))) is None
                        else text
                    ),
                )
            result = self.pairs(result, found, lambda left, right: self._added(left, right, node))
        return result

    def _added(self, left: Value, right: Value, node: ast.AST) -> Value:
        return left + right if isinstance(left, str) and isinstance(right, str) else Opaque(node)

    def pairs(self, left: Value, right: Value, act: Callable[[Value, Value], Value]) -> Value:
        """Do something for each pair of values that there may be."""
        return self.each(left, lambda one: self.each(right, lambda two: act(one, two)))

    def _bounded(self, value: Value, node: ast.AST) -> Value:
        if isinstance(value, str | bytes | list | tuple) and len(value) > MAX_ITEMS * 10:
            return Opaque(node)
        if isinstance(value, int) and value.bit_length() > 256:
            return Opaque(node)
        return value

    def _collection(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for one in node.elts:
            if isinstance(one, ast.Starred):
                inner = items_of(self.value(one.value, scope))
                if inner is None:
                    return Opaque(node)
                found.extend(inner)
            else:
                found.append(self.value(one, scope))
        if isinstance(node, ast.Tuple):
            return tuple(found)
        if isinstance(node, ast.List):
            return found
        try:
            return dict.fromkeys(found).keys()
        except TypeError:
            return Opaque(node)

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, scope)
            if key is None:
                if not isinstance(inner, dict):
                    return Opaque(node)
                found.update(inner)
                continue
            try:
                found[self.value(key, scope)] = inner
            except TypeError:
                return Opaque(node)
        return found

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        return self.pairs(
            self.value(node.left, scope), self.value(node.right, scope), lambda one, two: self._combine(node, one, two)
        )

    def _combine(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, NamedSchema):
            return NamedSchema(left + right.name, right.why)
        if isinstance(node.op, ast.BitOr) and (_is_type(left) or _is_type(right)):
            return TypeArguments(Dotted("typing.Union"), (left, right))
        if isinstance(node.op, ast.Mult):
            sizes = [len(one) for one in (left, right) if isinstance(one, str | bytes | list | tuple)]
            counts = [one for one in (left, right) if isinstance(one, int)]
            if sizes and (not counts or sizes[0] * max(counts) > MAX_ITEMS):
                return Opaque(node)
        if isinstance(node.op, ast.Mod) and isinstance(left, str | bytes):
            if not (constant(right) or (isinstance(right, tuple) and all(map(constant, right)))):
                return Opaque(node)
            if any(character.isdigit() or character == "*" for character in str(left)):
                return Opaque(node)  # a width may be any size
        return self._operate(node, type(node.op), left, right)

    def _operate(self, node: ast.AST, kind: type[ast.AST], left: Value, right: Value) -> Value:
        act = _OPERATORS.get(kind)
        if act is None or not all(constant(one) or isinstance(one, list | tuple | dict) for one in (left, right)):
            return Opaque(node)
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
            one = self.pairs(left, right, lambda a, b, k=kind: self._compare(node, k, a, b))  # type: ignore[misc]
            if not isinstance(one, bool):
                return one if len(node.ops) == 1 else Opaque(node)
            result, left = result and one, right
        return result

    def _compare(self, node: ast.AST, kind: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(kind, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and (left is None or right is None):
            other = right if left is None else left
            if isinstance(other, Opaque) or (isinstance(other, Dotted) and other.name not in self.run.modules):
                return Opaque(node)
            return (other is None) is isinstance(kind, ast.Is | ast.Eq)
        if isinstance(kind, ast.Is | ast.IsNot) and isinstance(left, bool) and isinstance(right, bool):
            return (left is right) is isinstance(kind, ast.Is)
        if isinstance(kind, ast.In | ast.NotIn):
            items = right if isinstance(right, str) else items_of(right)
            if items is None or not constant(left) or (isinstance(right, str) and not isinstance(left, str)):
                return Opaque(node)
            if not isinstance(items, str) and not all(map(constant, items)):
                return Opaque(node)
            return (left in items) is isinstance(kind, ast.In)
        if isinstance(left, Dotted) and left == right and isinstance(kind, ast.Is | ast.Eq):
            return True
        return self._operate(node, type(kind), left, right)

    def _bool_value(self, node: ast.BoolOp, scope: Scope) -> Value:
        last = len(node.values) - 1
        for place, one in enumerate(node.values):
            found = self.value(one, scope)
            truth = self.truth_of(found, one)
            if isinstance(truth, bool):
                if truth is isinstance(node.op, ast.Or) or place == last:
                    return found
                continue
            if not isinstance(found, Alternatives) or place == last:
                return found if place == last else Opaque(node)
            if place == last - 1:
                other = self.value(node.values[last], scope)
                stop = isinstance(node.op, ast.Or)
                return self.each(
                    found,
                    lambda v: v if self.truth_of(v, node) is stop else other,  # noqa: B023
                )
            return Opaque(node)
        return Opaque(node)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.truth(node.operand, scope)
            return not truth if isinstance(truth, bool) else conditional(negated(truth), True, False)
        found = self.value(node.operand, scope)
        if isinstance(found, int | float):
            return -found if isinstance(node.op, ast.USub) else found
        return Opaque(node)

    def _either(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse, scope)
        with self.run.under((test,)):
            first = self.value(node.body, scope)
        with self.run.under((negated(test),)):
            second = self.value(node.orelse, scope)
        return conditional(test, first, second)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        return self.each(self.value(node.value, scope), lambda owner: self._item(node, owner, scope))

    def _item(self, node: ast.Subscript, owner: Value, scope: Scope) -> Value:
        if isinstance(node.slice, ast.Slice):
            return self._slice(node, owner, node.slice, scope)
        key = self.value(node.slice, scope)
        if isinstance(owner, str | list | tuple | dict):

            def get(one: Value) -> Value:
                try:
                    return owner[one]
                except (LookupError, TypeError):
                    return Opaque(node)

            return self.each(key, get)
        if _is_type(owner):
            return TypeArguments(owner, key if isinstance(key, tuple) else (key,))
        return Opaque(node)

    def _slice(self, node: ast.AST, owner: Value, cut: ast.Slice, scope: Scope) -> Value:
        bounds = [None if one is None else self.value(one, scope) for one in (cut.lower, cut.upper, cut.step)]
        if isinstance(owner, str | list | tuple) and all(one is None or isinstance(one, int) for one in bounds):
            try:
                return owner[slice(*bounds)]
            except ValueError:
                pass
        return Opaque(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> Value:
        inner = Scope(scope.file, scope)
        found: list[Value] = []

        def go(level: int) -> bool:
            if level == len(node.generators):
                if isinstance(node, ast.DictComp):
                    found.append((self.value(node.key, inner), self.value(node.value, inner)))
                else:
                    found.append(self.value(node.elt, inner))
                return len(found) <= MAX_ITEMS
            one = node.generators[level]
            items = items_of(self.value(one.iter, inner))
            if items is None:
                return False
            for item in items:
                self.run.step()
                self.assign(one.target, item, inner)
                tests = [self.truth(test, inner) for test in one.ifs]
                if False in tests:
                    continue
                if any(test is not True for test in tests) or not go(level + 1):
                    return False
            return True

        if not go(0):
            return Opaque(node)
        try:
            if isinstance(node, ast.DictComp):
                return dict(found)
            return dict.fromkeys(found).keys() if isinstance(node, ast.SetComp) else found
        except TypeError:
            return Opaque(node)


def _without(condition: Condition, known: list[Condition]) -> Condition:
    """A part of ``a or (not a and b)``, without what the other parts say."""
    if not isinstance(condition, And):
        return condition
    rest = tuple(one for one in condition.operands if one not in known)
    return condition if not rest else rest[0] if len(rest) == 1 else And(rest)


def atom(node: ast.AST) -> Atom:
    """The atom of a test."""
    text = source_text(node)
    return Atom(f"bool({text})" if _JOINED.search(text) else text)


def conditional(test: Condition, first: Value, second: Value) -> Value:
    """The value under a condition, and otherwise."""
    return merged([ValueOption((test,), first), ValueOption((negated(test),), second)])


def merged(options: list[ValueOption]) -> Value:
    """One value of several: the only one, or alternatives."""
    flat: list[ValueOption] = []
    for option in options:
        if isinstance(option.value, Alternatives):
            flat += [ValueOption((*option.when, *one.when), one.value) for one in option.value.options]
        else:
            flat.append(option)
    if not flat:
        return Opaque(None)
    first = flat[0].value
    if all(
        one.value is first or (constant(first) and type(one.value) is type(first) and one.value == first)
        for one in flat
    ):
        return first
    if len(flat) > MAX_OPTIONS:
        return Opaque(None, "a value under many conditions")
    return Alternatives(tuple(flat))


def _is_type(value: Value) -> bool:
    return isinstance(value, Dotted | TypeArguments) or type(value).__name__ == "ClassValue"


__all__ = ["Bound", "Expressions", "Not", "TooManySteps", "conditional", "constant_method", "merged"]
