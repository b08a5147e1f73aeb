"""Calls of Python's own functions, and of others that are not the project's."""

from __future__ import annotations

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import signature_of, type_arguments, type_origin
from dispatch_cli.extract.python.evaluation.binding import Imports
from dispatch_cli.extract.python.evaluation.evaluator import Call, Evaluator
from dispatch_cli.extract.python.evaluation.methods import (
    BUILTINS,
    PATH_FUNCTIONS,
    SEARCHED,
    items_of,
    path_function,
    searched_folders,
)
from dispatch_cli.extract.python.evaluation.options import conditional, is_type
from dispatch_cli.extract.python.evaluation.values import (
    Bound,
    ClassValue,
    Dotted,
    FunctionValue,
    LibraryValue,
    Opaque,
    Prepared,
    Value,
)
from dispatch_cli.extract.python.evaluation.versions import VERSION_CLASSES, ByVersion, Version
from dispatch_cli.extract.python.keys import FACTORIES, FIND_SCHEMA, TRANSPARENT
from dispatch_cli.extract.python.torch_calls import TorchCalls

MAX_DIGITS = 100
"""Characters of a number in a text."""


class PythonFunctions:
    """Calls functions that are not the project's."""

    def __init__(self, reader: Evaluator, imports: Imports, torch: TorchCalls) -> None:
        self._reader = reader
        self._run = reader.run
        self._imports = imports
        self._torch = torch

    def call(self, name: str, call: Call) -> Value:
        """Call a function by its full name."""
        given, node = call.given, call.node
        if name in VERSION_CLASSES or name.startswith("builtins."):
            places = [place for place, part in enumerate(given) if isinstance(part, ByVersion)]
            if len(places) == 1:
                return self._run.each(
                    given[places[0]], lambda chosen: self.call(name, call.with_argument(places[0], chosen))
                )
        if name in VERSION_CLASSES and given and isinstance(given[0], str):
            return Version(given[0])
        if name in ("importlib.metadata.version", "importlib_metadata.version") and given == ["torch"]:
            return self._reader.attribute(Dotted("torch"), "__version__", node, call.scope)
        if name in ("importlib.import_module", "builtins.__import__") and given and isinstance(given[0], str):
            whole = name.startswith("importlib") and not given[0].startswith(".")
            module = given[0] if whole else given[0].partition(".")[0]
            return self._imports.imported(module, call.scope) if module else Opaque(node)
        if name.startswith("builtins."):
            return self._builtin(name.removeprefix("builtins."), call)
        if name in ("functools.partial", "functools.partialmethod") and given:
            return Prepared(given[0], tuple(given[1:]), call.keywords)
        if name in ("functools.wraps", "functools.update_wrapper") and given:
            return Prepared(Dotted("functools.wrapped"), (given[0],))
        if name == "functools.wrapped" and len(given) == 2:
            if isinstance(given[1], FunctionValue) and isinstance(given[0], FunctionValue):
                given[1].wrapped = given[0]
            return given[1]
        if name in TRANSPARENT and given:
            if isinstance(given[0], FunctionValue):
                given[0].may_be_replaced = True
            return given[0]
        if name in FACTORIES:
            return Dotted(name)  # ``@lru_cache(None)``: what it returns is a decorator
        if name == "inspect.signature" and len(given) == 1 and isinstance(given[0], FunctionValue):
            return signature_of(given[0], self._reader.value)
        if name in ("typing.get_origin", "typing.get_args") and len(given) == 1 and is_type(given[0]):
            return type_origin(given[0]) if name == "typing.get_origin" else type_arguments(given[0])
        if name in PATH_FUNCTIONS:
            path = path_function(name, given)
            return Opaque(node) if path is None else path
        if name in SEARCHED:
            self._run.index.search(searched_folders(name, given), call.file)
            return None
        if name in ("itertools.product", "itertools.chain") and not call.keywords:
            rows = [items_of(part) if self._run.affords(part) else None for part in given]
            if name == "itertools.product":
                return names.product(rows, node)
            return Opaque(node) if None in rows else [item for row in rows if row for item in row]
        if name.startswith("torch._C._dispatch_has_kernel") and given and all(isinstance(part, str) for part in given):
            text = f"{name}({', '.join(map(repr, given))})"
            return self._run.question(text, given[0], node, call.file)
        if name == f"torch._C.{FIND_SCHEMA}" and given and isinstance(given[0], str):
            namespace, _, operator = given[0].partition("::")
            return self._has_operator(namespace, operator, call)
        if name.startswith("torch.ops.") and name.endswith(".py_kernels.pop") and given:
            self._torch.removed_python_kernel(Dotted(name.removesuffix(".pop")), given[0], node)
            return Opaque(node)
        return self._torch.call(name, call)

    def _has_operator(self, namespace: str, name: str, call: Call) -> Value:
        """``hasattr(torch.ops.my, "op")``: whether the operator is defined when this is asked."""
        operator = f"{namespace}::{name}"
        if self._run.is_defined(operator):
            return True
        return self._run.question(f"hasattr(torch.ops.{namespace}, {name!r})", operator, call.node, call.file)

    def _attribute(self, owner: Value, name: Value, call: Call) -> Value:
        return (
            self._reader.attribute(owner, name, call.node, call.scope) if isinstance(name, str) else Opaque(call.node)
        )

    def _builtin(self, name: str, call: Call) -> Value:
        given, node = call.given, call.node
        if name == "getattr" and len(given) == 3 and isinstance(given[0], FunctionValue):
            plain = isinstance(given[1], str) and not given[1].startswith("__")
            if plain and given[1] not in given[0].attributes:
                return given[2]
        if name == "getattr" and len(given) == 3 and isinstance(given[1], str) and _is_operator_namespace(given[0]):
            is_there = self._has_operator(given[0].name.rpartition(".")[2], given[1], call)
            test = self._reader.truth_of(is_there, node)
            operator = self._attribute(given[0], given[1], call)
            return conditional([test], operator, given[2]) if not isinstance(test, bool) else operator
        if name == "getattr" and len(given) >= 2:
            return self._run.pairs(given[0], given[1], lambda owner, attribute: self._attribute(owner, attribute, call))
        if name == "hasattr" and len(given) == 2 and isinstance(given[0], Dotted) and isinstance(given[1], str):
            if given[0].name == "torch.version" and given[1] == "git_version":
                return True
            if given[0].name == "torch.ops":
                return True  # each name is a namespace there
            if _is_operator_namespace(given[0]):
                return self._has_operator(given[0].name.rpartition(".")[2], given[1], call)
            return True if names.is_torch_api(f"{given[0].name}.{given[1]}", exact=True) else Opaque(node)
        if name == "hasattr" and given and isinstance(given[0], Bound) and isinstance(given[0].owner, LibraryValue):
            return False if (given[0].name, *given[1:]) == ("m", "name") else Opaque(node)  # a _DispatchModule
        if name == "isinstance" and len(given) == 2:
            return self._run.each(
                given[0],
                lambda value: Opaque(node) if (known := names.is_instance(value, given[1])) is None else known,
            )
        if name == "callable" and given and isinstance(given[0], FunctionValue | ClassValue):
            return True
        if name == "type" and given == [None]:
            return Dotted("builtins.NoneType")
        if name in ("print", "setattr"):
            return None
        if name == "map" and len(given) == 2 and (items := self._run.items(given[1])) is not None:
            return [self._reader.apply(given[0], call.of(item)) for item in items]
        if name in BUILTINS and not any(isinstance(part, Opaque) for part in given):
            if not self._run.affords(*given, *call.keywords.values()):
                return Opaque(node)
            try:
                return BUILTINS[name](*given, **call.keywords)
            except Exception:  # what Python's own functions raise, or `NoResult`
                return Opaque(node)
        if name in ("int", "float", "bool") and len(given) == 1 and isinstance(given[0], str | int | float):
            if isinstance(given[0], str) and len(given[0]) > MAX_DIGITS:
                return Opaque(node)
            try:
                return {"int": int, "float": float, "bool": bool}[name](given[0])
            except (ValueError, OverflowError):
                return Opaque(node)
        return Opaque(node)


def _is_operator_namespace(value: Value) -> bool:
    """True for ``torch.ops.my``."""
    return isinstance(value, Dotted) and value.name.startswith("torch.ops.") and value.name.count(".") == 2
