"""The value of an expression, without running anything."""

from __future__ import annotations

import ast

from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.methods import MAX_ITEMS, format_constant
from dispatch_cli.extract.python.evaluation.operations import Operations
from dispatch_cli.extract.python.evaluation.options import MAX_ATOMS, MAX_DEPTH, atom, is_type, joined
from dispatch_cli.extract.python.evaluation.values import (
    MAX_PARTS,
    PARTS,
    Alternatives,
    FunctionValue,
    Opaque,
    RegistrationQuestion,
    Scope,
    Value,
    decided,
    default_nodes,
)
from dispatch_cli.extract.python.evaluation.versions import ByVersion, condition_of
from dispatch_cli.model.conditions.condition import Atom, Condition, negated

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions:
    """Evaluates expressions."""

    def __init__(self, reader: Evaluator) -> None:
        self._reader = reader
        self._run = reader.run
        self._operations = Operations(reader)

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
                return self._operations.bounded(node.value, node)
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
                return self._operations.binary(node, scope)
            case ast.Compare() | ast.BoolOp():
                return self._operations.logical(node, scope)
            case ast.UnaryOp():
                return self._operations.unary(node, scope)
            case ast.IfExp():
                return self._operations.either(node, scope)
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
            case ast.Starred():
                return self.value(node.value, scope)
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

        def text(value: Value) -> Value:
            formatted = format_constant(value, piece, lambda part: self.value(part, scope))
            return Opaque(piece) if formatted is None else formatted

        return self._run.each(self.value(piece.value, scope), text)

    def _added(self, left: Value, right: Value, node: ast.AST) -> Value:
        if not (isinstance(left, str) and isinstance(right, str)):
            return Opaque(node)
        self._run.spend(len(left) // PARTS)
        return self._operations.bounded(left + right, node)

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
            return self._operations.generic(owner, key if isinstance(key, tuple) else (key,), node)
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


def _text_of(piece: ast.expr) -> str:
    """The text of an f-string between its parts in braces."""
    return str(piece.value) if isinstance(piece, ast.Constant) else ""
