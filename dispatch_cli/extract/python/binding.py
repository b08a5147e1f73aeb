"""Names, functions and classes that statements bind."""

from __future__ import annotations

import ast

from dispatch_cli.extract.python.evaluator import Evaluator
from dispatch_cli.extract.python.lifetimes import kept_libraries
from dispatch_cli.extract.python.methods import MAX_ITEMS
from dispatch_cli.extract.python.options import conditional
from dispatch_cli.extract.python.torch_calls import TorchCalls
from dispatch_cli.extract.python.values import (
    Alternatives,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    Opaque,
    Scope,
    Value,
)


class Bindings:
    """Binds names."""

    def __init__(self, reader: Evaluator, torch: TorchCalls) -> None:
        self._reader = reader
        self._run = reader.run
        self._torch = torch

    # names

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a name, the parts of a tuple, an attribute or an item."""
        match target:
            case ast.Name():
                home = self._home(target.id, scope)
                home.names[target.id] = value
            case ast.Tuple() | ast.List():
                self._unpack(target, value, scope)
            case ast.Starred():
                self.assign(target.value, value, scope)
            case ast.Attribute():
                owner = self._reader.value(target.value, scope)
                if isinstance(owner, FunctionValue):
                    before = owner.attributes.get(target.attr, Opaque(target))
                    owner.attributes[target.attr] = conditional(self._run.when, value, before)
                elif isinstance(owner, InstanceValue):
                    owner.attributes[target.attr] = value
                elif isinstance(owner, ClassValue):
                    owner.scope.names[target.attr] = value
                else:
                    self._run.keep(value)
            case ast.Subscript():
                owner, key = self._reader.value(target.value, scope), self._reader.value(target.slice, scope)
                if isinstance(owner, dict | list):
                    if not self._run.affords(key):
                        return
                    try:
                        owner[key] = self._run.here(value)
                    except (TypeError, LookupError):
                        return
                else:
                    self._run.keep(value)

    def remove(self, target: ast.expr, scope: Scope) -> None:
        """Remove a name, an attribute or an item."""
        removed: Value = None
        match target:
            case ast.Name():
                removed = self._home(target.id, scope).names.pop(target.id, None)
            case ast.Attribute():
                owner = self._reader.value(target.value, scope)
                if isinstance(owner, InstanceValue):
                    removed = owner.attributes.pop(target.attr, None)
            case ast.Subscript():
                owner, key = self._reader.value(target.value, scope), self._reader.value(target.slice, scope)
                if isinstance(owner, Dotted) and owner.name.endswith(".py_kernels"):
                    self._torch.removed_python_kernel(owner, key, target)
                elif isinstance(owner, dict | list) and self._run.affords(key):
                    try:
                        removed = owner.pop(key)
                    except (TypeError, LookupError):
                        return
        for library in kept_libraries([removed]):
            library.ended = True

    def _home(self, name: str, scope: Scope) -> Scope:
        if name not in scope.globals:
            return scope
        outer = scope.parent
        while outer is not None and name not in outer.names:
            outer = outer.parent
        return outer or scope.module

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, scope: Scope) -> None:
        if isinstance(value, Alternatives):
            for place, element in enumerate(target.elts):
                self.assign(
                    element,
                    self._run.each(
                        value,
                        lambda v, p=place: (
                            parts[p]  # type: ignore[misc]
                            if (parts := self._run.items(v)) is not None and len(parts) == len(target.elts)
                            else Opaque(target)
                        ),
                    ),
                    scope,
                )
            return
        items = self._run.items(value)
        known = items is not None and len(items) == len(target.elts)
        for place, element in enumerate(target.elts):
            self.assign(element, items[place] if known and items is not None else Opaque(element), scope)

    def augment(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        before = self._reader.value(_loaded(node.target), scope)
        more = self._reader.value(node.value, scope)
        if isinstance(node.op, ast.Add) and isinstance(before, list) and (items := self._run.items(more)) is not None:
            if len(before) + len(items) > MAX_ITEMS:
                self.assign(node.target, Opaque(node), scope)
                return
            before.extend(self._run.here(item) for item in items)
            return
        self.assign(node.target, self._reader.value(load, scope), scope)

    # definitions

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        value: Value = FunctionValue(
            node,
            scope,
            defaults=tuple(self._reader.value(default, scope) for default in node.args.defaults),
            keyword_defaults={
                argument.arg: self._reader.value(default, scope)
                for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if default is not None
            },
        )
        self._run.functions.setdefault(scope.file, []).append(value)
        value = self._decorated(node, value, scope)
        self._home(node.name, scope).names[node.name] = value

    def _decorated(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, value: Value, scope: Scope
    ) -> Value:
        for decorator in reversed(node.decorator_list):
            if isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod", "property"):
                if isinstance(value, FunctionValue):
                    value.kind = decorator.id
                continue
            function = self._reader.value(decorator, scope)
            value = self._reader.decorate(function, value, decorator, scope)
        return value

    def define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = Scope(scope.file, scope, is_class=True)
        self._reader.block(node.body, inner, [])
        value = self._decorated(node, ClassValue(node, inner), scope)
        self._home(node.name, scope).names[node.name] = value


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        case ast.Attribute():
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target
