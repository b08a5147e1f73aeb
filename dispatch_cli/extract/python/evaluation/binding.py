"""Names, functions and classes that statements bind."""

from __future__ import annotations

import ast
from contextlib import suppress

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.options import conditional
from dispatch_cli.extract.python.evaluation.values import (
    MAX_NAME,
    MAX_TEXT,
    ClassValue,
    Dotted,
    FunctionValue,
    ImportedName,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    Opaque,
    Scope,
    Value,
    default_nodes,
    source_text,
)
from dispatch_cli.extract.python.torch_calls import TorchCalls
from dispatch_cli.model.conditions.condition import Atom, Condition


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
            case ast.Subscript():
                owner, key = self._reader.value(target.value, scope), self._reader.value(target.slice, scope)
                if isinstance(owner, dict | list) and self._run.affords(key):
                    with suppress(TypeError, LookupError):
                        owner[key] = self._run.here(value)

    def remove(self, target: ast.expr, scope: Scope) -> None:
        """Remove a name, an attribute or an item."""
        removed: Value = None
        match target:
            case ast.Name():
                removed = self._home(target.id, scope).names.pop(target.id, None)
            case ast.Attribute():
                removed = self._reader.value(target, scope)
                self.assign(target, Opaque(target), scope)
            case ast.Subscript():
                owner, key = self._reader.value(target.value, scope), self._reader.value(target.slice, scope)
                if isinstance(owner, Dotted) and owner.name.endswith(".py_kernels"):
                    self._torch.removed_python_kernel(owner, key, target)
                else:
                    self.assign(target.value, Opaque(target), scope)
        if isinstance(removed, LibraryValue):
            self._run.not_known(scope.file, target, "it may remove what the library has registered")

    def _home(self, name: str, scope: Scope) -> Scope:
        if name not in scope.globals:
            return scope
        outer = scope.parent
        while outer is not None and name not in outer.names:
            outer = outer.parent
        return outer or scope.module

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, scope: Scope) -> None:
        for place, element in enumerate(target.elts):
            self.assign(element, self._run.each(value, lambda v, p=place: self._part(v, p, target)), scope)  # type: ignore[misc]

    def _part(self, value: Value, place: int, target: ast.Tuple | ast.List) -> Value:
        """One of the items of a value that is unpacked."""
        items = self._run.items(value)
        return items[place] if items is not None and len(items) == len(target.elts) else Opaque(target.elts[place])

    def augment(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        self.assign(node.target, self._reader.value(load, scope), scope)

    # definitions

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        defaults = {name: self._reader.value(part, scope) for name, part in default_nodes(node.args).items()}
        value: Value = FunctionValue(node, scope, defaults=defaults)
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

    # imports

    def import_names(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Bind what an import names."""
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.asname:
                    scope.names[name.asname] = self.imported(name.name, scope)
                else:
                    top = name.name.partition(".")[0]
                    scope.names[top] = self.imported(top, scope)
            return
        for name in node.names:
            if name.name == "*":
                self._star(node, scope)
                continue
            set_value = self._run.values(scope.file).get(name.asname or name.name)
            scope.names[name.asname or name.name] = (
                set_value[0] if set_value else ImportedName(node, scope.file, name.name)
            )

    def imported(self, name: str, scope: Scope) -> Value:
        if names.is_torch_api(name):
            return Dotted(name)
        if len(name) > MAX_NAME:
            return Opaque(None, name[:MAX_TEXT])
        file = self._run.index.absolute(name, scope.file)
        if file and name != "torch":
            return ModuleValue(file)
        self._run.modules.add(name)
        return Dotted(name)

    def _star(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = node.module or ""
        file = (
            self._run.index.relative(scope.file, node.level, base)
            if node.level
            else self._run.index.absolute(base, scope.file)
        )
        if file is not None and not names.is_torch_api(base) and file not in scope.stars:
            scope.stars.append(file)

    def condition(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> Condition | None:
        """The condition that an import succeeds; None where it is assumed."""
        index, file = self._run.index, scope.file
        if isinstance(node, ast.Import):
            unsure = (name.name for name in node.names if not names.certain(name.name))
            absent = next((name for name in unsure if index.absolute(name, file) is None), None)
            return None if absent is None else Atom(f"import {absent}")
        base = node.module or ""
        if node.level:
            path = index.relative(file, node.level, base)
            tested = [] if base else [name.name for name in node.names]
            missing = [name for name in tested if index.relative(file, node.level, name) is None]
            if (path is None and not base and not missing) or (
                path is not None and all(index.mentions(path, name) for name in missing)
            ):
                return None
        elif names.certain(base):
            known = all(names.is_torch_api(f"{base}.{name.name}") for name in node.names)
            private = base.startswith("torch") and any(part.startswith("_") for part in base.split("."))
            if known or not (private or base == "torch.library"):
                return None
        elif index.absolute(base, file) is not None:
            return None
        return Atom(source_text(node))
