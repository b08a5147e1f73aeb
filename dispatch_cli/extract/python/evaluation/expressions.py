"""The value of an expression, without running anything."""

from __future__ import annotations

import ast
from functools import partial

from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.operations import Operations
from dispatch_cli.extract.python.evaluation.values import (
    MAX_ATOMS,
    MAX_ITEMS,
    MAX_PARTS,
    PARTS,
    Alternatives,
    FunctionValue,
    NoResult,
    Opaque,
    RegistrationQuestion,
    Scope,
    Value,
    ValueOption,
    atom,
    conditional,
    decided,
    default_nodes,
    joined,
)
from dispatch_cli.extract.python.evaluation.versions import ByVersion, condition_of
from dispatch_cli.model.conditions.condition import Atom, Condition, negated

MAX_DEPTH = 120
"""Maximum depth of expressions, statements and calls together."""
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions:
    """Evaluates expressions."""

    def __init__(self, reader: Evaluator, operations: Operations) -> None:
        self._reader = reader
        self._run = reader.run
        self._operations = operations

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        self._run.spend()
        self._run.now.depth += 1
        try:
            if self._run.now.depth > MAX_DEPTH:
                return Opaque(node)
            result = self._value(node, scope)
            if isinstance(result, str | list | dict | tuple) and len(result) > 64 and not isinstance(node, ast.Name):
                self._run.spend(len(result) // (PARTS if isinstance(result, str) else 4))
            return result
        except (NoResult, RecursionError):
            return Opaque(node)
        finally:
            self._run.now.depth -= 1

    def _set(self, node: ast.expr, scope: Scope) -> tuple[Value] | None:
        """Value that ``--set`` gives to the expression, in a tuple; None where it gives none."""
        values = self._run.values(scope.file)
        return values.get(self._run.text(node)) if values else None

    # tests

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
        return bool(value) if decided(value) else self._atom(node)

    def _joined_truth(self, parts: list[bool | Condition], conjunction: bool, node: ast.AST) -> bool | Condition:
        self._run.spend(1 << min(2 * len(parts), 10))
        whole = joined(parts, conjunction)
        return self._atom(node) if whole is None else whole

    def _atom(self, node: ast.AST) -> Condition:
        return atom(self._run.text(node))

    # values. Errors: `NoResult`

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        if not isinstance(node, ast.Constant) and (setting := self._set(node, scope)) is not None:
            return setting[0]
        match node:
            case ast.Constant():
                return self._operations.do(lambda: node.value)
            case ast.Name():
                return self._reader.look_up(node.id, node, scope)
            case ast.Attribute():
                owner = self.value(node.value, scope)
                return self._run.each(owner, lambda chosen: self._reader.attribute(chosen, node.attr, node, scope))
            case ast.Call():
                return self._reader.call(node, scope)
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._collection(node, scope)
            case ast.Dict():
                return self._dictionary(node, scope)
            case ast.BinOp():
                left, right = self.value(node.left, scope), self.value(node.right, scope)
                return self._run.pairs(left, right, partial(self._operations.binary, node.op), node)
            case ast.Compare():
                return self._compared(node, scope)
            case ast.BoolOp():
                return self._bool_value(node, scope)
            case ast.UnaryOp(op=ast.Not()):
                truth = self.truth(node.operand, scope)
                return not truth if isinstance(truth, bool) else conditional([negated(truth)], True, False)
            case ast.UnaryOp():
                value = self.value(node.operand, scope)
                if isinstance(value, int | float):
                    return -value if isinstance(node.op, ast.USub) else value
            case ast.IfExp():
                return self._either(node, scope)
            case ast.Subscript():
                owner, key = self.value(node.value, scope), self.value(node.slice, scope)
                if not isinstance(owner, Opaque):
                    return self._run.pairs(owner, key, self._operations.item, node)
            case ast.Slice():
                bounds = [bound and self.value(bound, scope) for bound in (node.lower, node.upper, node.step)]
                if all(bound is None or isinstance(bound, int) for bound in bounds):
                    return slice(*bounds)
            case ast.Lambda():
                defaults = {name: self.value(part, scope) for name, part in default_nodes(node.args).items()}
                return FunctionValue(node, scope, defaults=defaults)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                first = self.value(node.generators[0].iter, scope)
                return self._run.each(first, lambda chosen: self._comprehended(node, chosen, scope), node)
            case ast.Yield() | ast.YieldFrom():  # what calls the function goes through results
                scope.returns.append(ValueOption((), Opaque(node)))
            case ast.NamedExpr():
                value = self.value(node.value, scope)
                self._reader.assign(node.target, value, scope)
                return value
        raise NoResult

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        """The text of an f-string, for each of the values that its parts may have."""
        result: Value = ""
        for piece in node.values:
            text: Value = getattr(piece, "value", "")
            if isinstance(piece, ast.FormattedValue):
                spec = "" if piece.format_spec is None else self.value(piece.format_spec, scope)
                act = partial(self._operations.formatted, spec=spec, conversion=piece.conversion)
                text = self._run.each(self.value(piece.value, scope), act, piece)
            result = self._run.pairs(result, text, self._operations.added, node)
        return result

    def _collection(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        values: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self._run.items(self.value(element.value, scope))
                if inner is None or len(values) + len(inner) > MAX_PARTS:
                    raise NoResult
                values.extend(inner)
            else:
                values.append(self.value(element, scope))
        self._operations.afford(values)
        if isinstance(node, ast.List):
            return values
        return tuple(values) if isinstance(node, ast.Tuple) else self._operations.function("set", [values], {})

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        values: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, scope)
            if key is None:
                if not isinstance(inner, dict) or len(values) + len(inner) > MAX_PARTS:
                    raise NoResult
                self._run.spend(len(inner) // PARTS)
                values.update(inner)
                continue
            known = self.value(key, scope)
            self._operations.afford(known)
            self._operations.do(values.__setitem__, known, inner)
        self._operations.afford(values)
        return values

    def _comprehended(self, node: _Comprehension, first: Value, scope: Scope) -> Value:
        """The value of a comprehension. first: what its first loop goes through."""
        inner = Scope(scope.file, scope)
        values: list[Value] = []

        def go(level: int) -> None:
            if level == len(node.generators):
                if isinstance(node, ast.DictComp):
                    values.append((self.value(node.key, inner), self.value(node.value, inner)))
                else:
                    values.append(self.value(node.elt, inner))
                if len(values) > MAX_ITEMS:
                    raise NoResult
                return
            generator = node.generators[level]
            items = self._run.items(self.value(generator.iter, inner) if level else first)
            if items is None:
                raise NoResult
            for item in items:
                self._run.spend()
                self._reader.assign(generator.target, item, inner)
                tests = [self.truth(test, inner) for test in generator.ifs]
                if False in tests:
                    continue
                if any(test is not True for test in tests):
                    raise NoResult
                go(level + 1)

        go(0)
        kind = {ast.DictComp: "dict", ast.SetComp: "set"}.get(type(node), "list")
        return self._operations.function(kind, [values], {})

    def _compared(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        for kind, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node, scope)
            result = self._run.pairs(left, right, partial(self._operations.compare, kind), node)
            if len(node.ops) == 1 or result is False:
                return result
            if result is not True:
                raise NoResult
            left = right
        return True

    def _bool_value(self, node: ast.BoolOp, scope: Scope) -> Value:
        last = len(node.values) - 1
        stop = isinstance(node.op, ast.Or)
        for place, operand in enumerate(node.values):
            value = self.value(operand, scope)
            if place == last:
                return value
            truth = self.truth_of(value, operand)
            if truth is stop:
                self._run.dead(node.values[place + 1 :], scope.file)
                return value
            if isinstance(truth, bool):
                continue
            if not isinstance(value, Alternatives) or place < last - 1:
                break
            other = self.value(node.values[last], scope)
            return self._run.each(value, lambda v: v if self.truth_of(v, node) is stop else other)  # noqa: B023
        raise NoResult

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
