"""Attributes of functions, classes and their objects."""

from __future__ import annotations

import ast
from abc import abstractmethod

from dispatch_cli.extract.python.expressions import Expressions
from dispatch_cli.extract.python.values import (
    ClassValue,
    Dotted,
    EnumMember,
    FunctionValue,
    Opaque,
    Scope,
    Value,
)


class ClassLookups(Expressions):
    """Looks up attributes of the project's functions and classes."""

    @abstractmethod
    def run_function(
        self, function: FunctionValue, given: list[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value: ...

    @abstractmethod
    def known(self, home: Scope, name: str) -> Value: ...

    def _of_function(self, owner: FunctionValue, name: str, node: ast.AST) -> Value:
        if name in owner.attributes:
            return self.holding(owner.attributes[name])
        if name in ("__name__", "__qualname__"):
            return owner.name
        if name == "__module__":
            return self.run.index.dotted(owner.scope.file)
        if name == "__wrapped__":
            return owner.wrapped or Opaque(node)
        return Opaque(node)

    def _of_class(self, cls: ClassValue, owner: Value, name: str, node: ast.AST, depth: int = 0) -> Value:
        if name in ("__name__", "__qualname__") and owner is cls:
            return cls.name
        if name == "__class__":
            return cls
        if name in cls.scope.names:
            found = self.known(cls.scope, name)
            if isinstance(found, FunctionValue):
                return self._method(found, cls, owner, node)
            if owner is cls and self._is_enum(cls) and not name.startswith("_"):
                return EnumMember(name, found)
            return found
        for base in self._bases(cls):
            if isinstance(base, ClassValue) and depth < 20:
                found = self._of_class(base, owner, name, node, depth + 1)
                if not isinstance(found, Opaque):
                    return found
        return Opaque(node)

    def _bases(self, cls: ClassValue) -> tuple[Value, ...]:
        if cls.bases is None:
            cls.bases = ()
            outer = cls.scope.parent
            assert outer is not None
            cls.bases = tuple(self.value(one, outer) for one in cls.node.bases)
        return cls.bases

    def _method(self, function: FunctionValue, cls: ClassValue, owner: Value, node: ast.AST) -> Value:
        if function.kind == "staticmethod" or (function.kind != "classmethod" and owner is cls):
            return function
        bound = FunctionValue(
            function.node,
            function.scope,
            cls if function.kind == "classmethod" else owner,
            True,
            function.kind,
            function.defaults,
            function.keyword_defaults,
            function.wrapped,
            keeps=function.keeps,
        )
        return self.run_function(bound, [], {}, node) if function.kind == "property" else bound

    def _is_enum(self, cls: ClassValue, depth: int = 0) -> bool:
        return depth < 20 and any(
            (isinstance(base, Dotted) and base.name.startswith("enum."))
            or (isinstance(base, ClassValue) and self._is_enum(base, depth + 1))
            for base in self._bases(cls)
        )
