"""Attributes of functions, classes and their objects."""

from __future__ import annotations

import ast

from dispatch_cli.extract.python.call import Call
from dispatch_cli.extract.python.evaluator import Evaluator
from dispatch_cli.extract.python.values import (
    ClassValue,
    Dotted,
    EnumMember,
    FunctionValue,
    Opaque,
    Value,
)


class Classes:
    """Looks up attributes of the project's functions and classes."""

    def __init__(self, reader: Evaluator) -> None:
        self._reader = reader
        self._run = reader.run

    def of_function(self, owner: FunctionValue, name: str, node: ast.AST) -> Value:
        if name in owner.attributes:
            return self._run.holding(owner.attributes[name])
        if name in ("__name__", "__qualname__"):
            return owner.name
        if name == "__module__":
            return self._run.index.dotted(owner.scope.file)
        if name == "__wrapped__":
            return owner.wrapped or Opaque(node)
        return Opaque(node)

    def of_class(self, cls: ClassValue, owner: Value, name: str, node: ast.AST) -> Value:
        if name in ("__name__", "__qualname__") and owner is cls:
            return cls.name
        if name == "__class__":
            return cls
        for home in self.ancestors(cls):
            if name not in home.scope.names:
                continue
            value = self._reader.known(home.scope, name)
            if isinstance(value, FunctionValue):
                value = self._method(value, home, owner, node)
            elif owner is home and self.is_enum(home) and not name.startswith("_"):
                value = EnumMember(name, value)
            if home is cls or not isinstance(value, Opaque):
                return value
        return Opaque(node)

    def ancestors(self, cls: ClassValue) -> list[ClassValue]:
        """A class and those that it inherits from, each once, in the order in which Python looks into them.

        That of a class whose bases contradict each other, or inherit from it, is some order.
        """
        seen = {id(cls)}
        values: list[ClassValue] = []
        waiting = [(cls, self._class_bases(cls))]
        while waiting:
            ancestor, rest = waiting[-1]
            if not rest:
                values.append(ancestor)
                waiting.pop()
            elif id(base := rest.pop()) not in seen:
                seen.add(id(base))
                waiting.append((base, self._class_bases(base)))
        return values[::-1]

    def _class_bases(self, cls: ClassValue) -> list[ClassValue]:
        self._run.spend()
        return [base for base in self.bases(cls) if isinstance(base, ClassValue)]

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
        return (
            self._reader.run_function(bound, Call([], {}, node, function.scope))
            if function.kind == "property"
            else bound
        )

    def is_enum(self, cls: ClassValue) -> bool:
        bases = (base for ancestor in self.ancestors(cls) for base in self.bases(ancestor))
        return any(isinstance(base, Dotted) and base.name.startswith("enum.") for base in bases)
