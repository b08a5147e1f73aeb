"""Names, attributes and imports: what they stand for."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.values import (
    MAX_NAME,
    MAX_TEXT,
    Alternatives,
    Bound,
    Call,
    ClassValue,
    Dotted,
    FunctionValue,
    ImportedName,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    Opaque,
    OperatorHandle,
    Scope,
    Value,
    ValueOption,
    merged,
    source_text,
)
from dispatch_cli.extract.python.evaluation.versions import VERSION_OF_TORCH, Version
from dispatch_cli.extract.python.keys import METHODS, TORCH_FUNCTIONS
from dispatch_cli.model.conditions.condition import Atom, Condition
from dispatch_cli.model.conditions.worlds import TORCH_VERSION

_MISSING = Opaque(None, "missing")
_NAMESPACE_NAME = re.compile(r"torch\.ops\.\w+\.__name__")


class Lookups:
    """Looks up names, attributes and imports."""

    def __init__(self, reader: Evaluator) -> None:
        self._reader = reader
        self._run = reader.run
        self._imported: dict[ImportedName, Value] = {}

    def look_up(self, name: str, node: ast.AST, scope: Scope) -> Value:
        """Value of a name."""
        home: Scope | None = scope
        while home is not None:
            if name in home.names and (not home.is_class or home is scope):
                return self.known(home, name)
            if home.stars and (starred := self._starred(home, name)) is not _MISSING:
                return starred
            home = home.parent
        if name == "__name__":
            return self._run.index.dotted(scope.file)
        if name in names.BUILTIN_NAMES:
            return Dotted(f"builtins.{name}")
        return Opaque(node)

    def known(self, home: Scope, name: str) -> Value:
        """Value of a name of a scope; a module that it is imported from is read now."""
        value = home.names[name]
        if isinstance(value, Alternatives) and any(isinstance(option.value, ImportedName) for option in value.options):
            return merged([ValueOption(option.when, self._known(option.value, name)) for option in value.options])
        return self._known(value, name)

    def _known(self, value: Value, name: str) -> Value:
        """A value; what an import binds is looked up once, and the name keeps it, so that branches agree on it."""
        if not isinstance(value, ImportedName):
            return value
        if value not in self._imported:
            self._run.spend(10)
            self._imported[value] = Opaque(value.node, name)  # modules may import each other
            self._imported[value] = self._from(value.node, value.node.module or "", value.name, Scope(value.file))
        return self._imported[value]

    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        """Value of an attribute of a value."""
        match owner:
            case Dotted("builtins.NoneType"):
                return Opaque(node)
            case Dotted(base) if name in ("__name__", "__qualname__") and base.startswith("builtins."):
                return base.removeprefix("builtins.")
            case Dotted(base):
                return self._of_dotted(f"{base}.{name}", node, scope)
            case ModuleValue(file):
                return self.member(file, name, node)
            case FunctionValue():
                return self._of_function(owner, name, node)
            case ClassValue():
                return self.of_class(owner, owner, name, node)
            case InstanceValue(cls):
                if name in owner.attributes or cls is None:
                    return owner.attributes.get(name, Opaque(node))
                value = self.of_class(cls, owner, name, node)
                registers = name in METHODS and name not in ("define", "impl", "fallback")
                return Bound(owner, name) if isinstance(value, Opaque) and registers else value
            case LibraryValue(block):
                if name == "ns":
                    return block.namespace if isinstance(block.namespace, str) else Opaque(node)
                return Bound(owner, name)
            case OperatorHandle():
                return owner if name in ("_opoverload", "default") else Bound(owner, name)
            case Version() if (own := owner.attribute(name)) is not None:
                return own
            case str() | list() | dict() | tuple():
                return Bound(owner, name)
            case Opaque() if name in METHODS:
                return Bound(owner, name)
        return Opaque(node)

    def _of_dotted(self, full: str, node: ast.AST, scope: Scope) -> Value:
        if len(full) > MAX_NAME:
            return Opaque(node)
        full = full.replace("torch._ops.ops", "torch.ops", 1) if full.startswith("torch._ops.ops") else full
        if ".DispatchKey." in full and full.endswith(".name"):
            return full.split(".")[-2]
        if _NAMESPACE_NAME.fullmatch(full):
            return full.removesuffix(".__name__")
        if full in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"):
            return False
        owner, _, name = full.rpartition(".")
        in_namespace = owner.startswith("torch.ops.") and owner.count(".") < 3
        if full.startswith("torch.") and name in METHODS and full not in TORCH_FUNCTIONS and not in_namespace:
            return Bound(Dotted(owner), name)
        if full == TORCH_VERSION:
            return self._run.values(scope.file).get(full, (VERSION_OF_TORCH,))[0]
        if names.is_torch_api(full):
            return Dotted(full)
        if module_file := self._run.index.absolute(full, scope.file):
            return ModuleValue(module_file)
        if module_file := self._run.index.absolute(owner, scope.file):
            return self.member(module_file, name, node)
        return Dotted(full) if names.certain(full) else Opaque(node)

    def member(self, file: str, name: str, node: ast.AST) -> Value:
        """Value of a name of a module of the project."""
        full = f"{self._run.index.dotted(file)}.{name}"
        if names.is_torch_api(full):
            return Dotted(full)
        if full.rpartition(".")[0] != "torch" and self._run.index.mentions(file, name):
            inside = self._reader.module(file)
            if name in inside.names:
                return self.known(inside, name)
            if (starred := self._starred(inside, name)) is not _MISSING:
                return starred
        if module_file := self._run.index.absolute(full, file):
            return ModuleValue(module_file)
        if module_file := self._run.index.relative(file, 1, name) if file.endswith("__init__.py") else None:
            return ModuleValue(module_file)
        return Dotted(full) if names.certain(full) else Opaque(node)

    def _from(self, node: ast.ImportFrom, base: str, name: str, scope: Scope) -> Value:
        if not node.level:
            return self._of_dotted_import(f"{base}.{name}", node, scope)
        file = self._run.index.relative(scope.file, node.level, base)
        if file is not None and file != scope.file:
            return self.member(file, name, node)
        beside = self._run.index.relative(scope.file, node.level, f"{base}.{name}" if base else name)
        if beside is not None:
            return ModuleValue(beside)
        if file is not None:
            return self.member(file, name, node)
        if base == "_ops" and (generated := self._generated(name, scope.file)) is not None:
            return generated
        return Dotted(f"{'.' * node.level}{base}.{name}")

    def _generated(self, name: str, file: str) -> Value | None:
        """The value of a name of the module ``_ops`` that kernel-builder makes when it builds a package."""
        if name not in ("ops", "add_op_namespace_prefix"):
            return None
        namespace = self._run.extension_names.of_generated_module(file)
        if namespace is None:
            return None
        return Dotted(f"torch.ops.{namespace}") if name == "ops" else Bound(f"{namespace}::{{}}", "format")

    def _of_dotted_import(self, full: str, node: ast.ImportFrom, scope: Scope) -> Value:
        value = self._of_dotted(full, node, scope)
        return Dotted(full) if isinstance(value, Opaque) and value.node is node else value

    def _starred(self, scope: Scope, name: str, seen: set[str] | None = None) -> Value:
        """Value of a name that a module has by ``from … import *``; `_MISSING` for none. seen: modules without it."""
        seen = set() if seen is None else seen
        for file in reversed(scope.stars):
            if file in seen or name.startswith("__") or not self._run.index.mentions(file, name):
                continue
            seen.add(file)
            self._run.spend()
            inside = self._reader.module(file)
            listed = self._run.items(inside.names["__all__"]) if "__all__" in inside.names else None
            if (listed is None and name.startswith("_")) or (listed is not None and name not in listed):
                continue
            if name in inside.names:
                return self.known(inside, name)
            value = self._starred(inside, name, seen)
            if value is not _MISSING:
                return value
        return _MISSING

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

    # functions and classes

    def _of_function(self, owner: FunctionValue, name: str, node: ast.AST) -> Value:
        if name in owner.attributes:
            return owner.attributes[name]
        if name in ("__name__", "__qualname__"):
            return owner.wrapped if isinstance(owner.wrapped, Opaque) else owner.name
        if name == "__module__":
            return self._run.index.dotted(owner.scope.file)
        if name == "__wrapped__":
            return owner.wrapped or Opaque(node)
        return Opaque(node)

    def of_class(self, cls: ClassValue, owner: Value, name: str, node: ast.AST) -> Value:
        if name in ("__name__", "__qualname__") and owner is cls:
            return cls.name
        for home in self.ancestors(cls):
            if name not in home.scope.names:
                continue
            value = self._reader.known(home.scope, name)
            if isinstance(value, FunctionValue):
                value = self._method(value, home, owner, node)
            elif owner is home and self.is_enum(home) and not name.startswith("_"):
                value = InstanceValue(None, {"name": name, "value": value})
            if home is cls or not isinstance(value, Opaque):
                return value
        return Opaque(node)

    def ancestors(self, cls: ClassValue) -> list[ClassValue]:
        """A class and those of the project that it inherits from, each once: those of the first base first."""
        values: dict[int, ClassValue] = {}
        waiting = [cls]
        while waiting:
            self._run.spend()
            ancestor = waiting.pop()
            if id(ancestor) not in values:
                values[id(ancestor)] = ancestor
                waiting += [base for base in self.bases(ancestor)[::-1] if isinstance(base, ClassValue)]
        return list(values.values())

    def bases(self, cls: ClassValue) -> tuple[Value, ...]:
        if cls.bases is None:
            cls.bases = ()
            outer = cls.scope.parent
            assert outer is not None
            cls.bases = tuple(self._reader.value(base, outer) for base in cls.node.bases)
        return cls.bases

    def _method(self, function: FunctionValue, cls: ClassValue, owner: Value, node: ast.AST) -> Value:
        if function.kind == "staticmethod" or (function.kind != "classmethod" and owner is cls):
            return function
        binds = cls if function.kind == "classmethod" else owner
        bound = replace(function, binds=binds, bound=True, attributes={})
        return (
            self._reader.run_function(bound, Call([], {}, node, function.scope))
            if function.kind == "property"
            else bound
        )

    def is_enum(self, cls: ClassValue) -> bool:
        bases = (base for ancestor in self.ancestors(cls) for base in self.bases(ancestor))
        return any(isinstance(base, Dotted) and base.name.startswith("enum.") for base in bases)
