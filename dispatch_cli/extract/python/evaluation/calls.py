"""Calls: of the project's functions, of Python's own, and of others."""

from __future__ import annotations

import ast

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import signature_of, type_arguments, type_origin
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.lookups import Lookups
from dispatch_cli.extract.python.evaluation.operations import Operations
from dispatch_cli.extract.python.evaluation.values import (
    MAX_PARTS,
    Alternatives,
    Bound,
    Call,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    NoResult,
    Opaque,
    Prepared,
    Scope,
    Value,
    ValueOption,
    conditional,
    exclusive,
    is_type,
    merged,
)
from dispatch_cli.extract.python.evaluation.versions import VERSION_CLASSES, ByVersion, Version
from dispatch_cli.extract.python.keys import FIND_SCHEMA
from dispatch_cli.extract.python.torch_calls import TorchCalls
from dispatch_cli.model.sources.source_conditions import question_text

MAX_CALLS = 30
"""Calls of the project's functions within each other."""


class Calls:
    """Follows calls."""

    def __init__(self, reader: Evaluator, lookups: Lookups, operations: Operations, torch: TorchCalls) -> None:
        self._reader = reader
        self._run = reader.run
        self._lookups = lookups
        self._operations = operations
        self._torch = torch

    # calls

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call; what the project's functions register on the way is found."""
        function = self._reader.value(node.func, scope)
        given: list[Value] = []
        keywords: dict[str, Value] = {}
        complete = True
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                items = self._run.items(self._reader.value(arg.value, scope))
                complete = complete and items is not None and len(given) + len(items) <= MAX_PARTS
                given.extend((items or []) if complete else [])
            else:
                given.append(self._reader.value(arg, scope))
        for keyword in node.keywords:
            value = self._reader.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                self._run.spend(len(value) // 4)
                keywords.update(value)
            else:
                complete = False
        made = Call(given, keywords, node, scope)
        if not complete and names.may_register(function):
            return self._run.not_known(made, "its arguments are not written out")
        return self._run.each(function, lambda option: self.apply(option, made))

    def apply(self, function: Value, call: Call) -> Value:
        """Call a value."""
        if not isinstance(function, Opaque):
            self._run.seen_calls.add(id(call.node))
        try:
            match function:
                case FunctionValue():
                    return self._followed(function, call)
                case ClassValue():
                    return self._instance(function, call)
                case InstanceValue(ClassValue() as cls):
                    method = self._lookups.of_class(cls, function, "__call__", call.node)
                    if isinstance(method, FunctionValue):
                        return self._followed(method, call)
                case Prepared():
                    return self._prepared(function, call)
                case Bound():
                    return self._bound(function, call)
                case Dotted(name):
                    return self._function(name, call)
        except NoResult:
            pass
        return Opaque(call.node)

    def decorate(self, function: Value, value: Value, node: ast.AST, scope: Scope) -> Value:
        """Apply a decorator to a function or class."""
        if isinstance(function, Alternatives):
            return self._run.each(function, lambda option: self.decorate(option, value, node, scope))
        if isinstance(value, FunctionValue) and not isinstance(
            function, FunctionValue | ClassValue | InstanceValue | Prepared | Bound
        ):
            value.may_be_replaced = True
        if isinstance(function, Dotted) and not names.is_torch_api(function.name):
            self._run.seen_calls.add(id(node))
            return value  # such as functools.cache: it is taken for the function itself
        result = self.apply(function, Call([value], {}, node, scope))
        return value if isinstance(result, Opaque) else result

    def _followed(self, function: FunctionValue, call: Call) -> Value:
        self._run.now.calls.append((call.file, call.node))
        try:
            return self.run_function(function, call)
        finally:
            self._run.now.calls.pop()

    def run_function(self, function: FunctionValue, call: Call) -> Value:
        """Go through the body of a function."""
        code = function.node
        self._run.entered.add(id(code))
        if (
            len(self._run.now.calls) > MAX_CALLS
            or self._run.now.active.count(id(code)) > 2
            or not (isinstance(code, ast.Lambda) or self._worthwhile(code))
        ):
            return Opaque(call.node)
        inner = Scope(function.scope.file, function.scope)
        self._bind(function, call, inner)
        if isinstance(code, ast.Lambda):
            return self._reader.value(code.body, inner)
        count = len(self._run.now.active)
        self._run.now.active.append(id(code))
        size = len(self._run.now.when)
        try:
            if self._registers(code):
                self._reader.block(code.body, inner)
            elif not self._run.for_value(code, lambda: self._reader.block(code.body, inner)):
                return Opaque(call.node)
        finally:
            del self._run.now.active[count:]
        returns = inner.returns
        if len(returns) < 2:
            return returns[0].value if returns else None
        if all(type(option.value) is Opaque for option in returns):
            return Opaque(call.node)  # what decides between values that are not known says nothing
        return merged(exclusive([ValueOption(option.when[size:], option.value) for option in returns]))

    def _worthwhile(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """True if a function may register something, or is small enough to be followed for what it returns."""
        facts = names.function_facts(code)
        return self._registers(code) or (facts.size <= facts.limit and len(self._run.now.active) <= 8)

    def _registers(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        return names.may_register_in(code, self._run.helpers)

    def _bind(self, function: FunctionValue, call: Call, scope: Scope) -> None:
        """Bind the parameters of a function."""
        arguments, left = function.node.args, dict(call.keywords)
        given = [function.binds, *call.given] if function.bound else call.given
        positional = [*arguments.posonlyargs, *arguments.args]
        for place, parameter in enumerate((*positional, *arguments.kwonlyargs)):
            name = parameter.arg
            if place < min(len(given), len(positional)):
                scope.names[name] = given[place]
            elif name in left:
                scope.names[name] = left.pop(name)
            else:
                scope.names[name] = function.defaults[name] if name in function.defaults else Opaque(parameter, name)
        if arguments.vararg is not None:
            scope.names[arguments.vararg.arg] = tuple(given[len(positional) :])
        if arguments.kwarg is not None:
            scope.names[arguments.kwarg.arg] = left

    def _instance(self, cls: ClassValue, call: Call) -> Value:
        if self._lookups.is_enum(cls):
            raise NoResult
        instance = InstanceValue(cls)
        start = self._lookups.of_class(cls, instance, "__init__", call.node)
        if isinstance(start, FunctionValue):
            self._followed(start, call)
        return instance

    def _prepared(self, function: Prepared, call: Call) -> Value:
        call = call.of(*function.arguments, *call.given, **{**function.keywords, **call.keywords})
        return self.apply(function.function, call)

    def _bound(self, bound: Bound, call: Call) -> Value:
        given = call.given
        if not isinstance(bound.owner, str | list | dict | tuple):
            return self._torch.method(bound, call)
        if isinstance(bound.owner, list) and bound.name in ("append", "insert"):
            given = [*given[:-1], self._run.here(given[-1])] if given else given
        if bound.name == "join" and given and isinstance(given[0], list):
            given = [[self._run.holding(part) for part in given[0]]]
        return self._operations.method(bound.owner, bound.name, given, call.keywords)

    # functions that are not the project's

    def _function(self, name: str, call: Call) -> Value:
        """Call a function by its full name."""
        given, node = call.given, call.node
        first = given[0] if given else None
        own = name.removeprefix("builtins.") if name.startswith("builtins.") else ""
        if own or name in VERSION_CLASSES:
            places = [place for place, part in enumerate(given) if isinstance(part, ByVersion)]
            if len(places) == 1:
                (place,) = places
                return self._run.each(given[place], lambda v: self._function(name, call.with_argument(place, v)), node)
        if own and own != "__import__":
            return self._builtin(own, call)
        if name in VERSION_CLASSES and isinstance(first, str):
            return Version(first)
        match name, given:
            case (("importlib.metadata.version" | "importlib_metadata.version"), ["torch"]):
                return self._reader.attribute(Dotted("torch"), "__version__", node, call.scope)
            case "importlib.import_module", [str() as module, *_] if module and module[0] != ".":
                return self._lookups.imported(module, call.scope)
            case "builtins.__import__", [str() as module, *_] if module and module[0] != ".":
                return self._lookups.imported(module.partition(".")[0], call.scope)
            case (("functools.partial" | "functools.partialmethod"), [function, *arguments]):
                return Prepared(function, tuple(arguments), call.keywords)
            case (("functools.wraps" | "functools.update_wrapper"), [function, *_]):
                return Prepared(Dotted("functools.wrapped"), (function,))
            case "functools.wrapped", [function, wrapper]:
                if isinstance(wrapper, FunctionValue):
                    wrapper.wrapped = function if isinstance(function, FunctionValue) else Opaque(node)
                return wrapper
            case "inspect.signature", [FunctionValue() as function]:
                return signature_of(function, self._reader.value)
            case "typing.get_origin", [kind] if is_type(kind):
                return type_origin(kind)
            case "typing.get_args", [kind] if is_type(kind):
                return type_arguments(kind)
        if name.startswith("torch._C._dispatch_has_kernel") and given and all(isinstance(part, str) for part in given):
            return self._run.question(f"{name}({', '.join(map(repr, given))})", given[0], node, call.file)
        if name == FIND_SCHEMA and isinstance(first, str):
            namespace, _, operator = first.partition("::")
            return self._has_operator(namespace, operator, call)
        if name.startswith("torch.ops.") and name.endswith(".py_kernels.pop") and given:
            self._torch.removed_python_kernel(name.removesuffix(".pop"), first, node)
            raise NoResult
        return self._torch.call(name, call)

    def _has_operator(self, namespace: str, name: str, call: Call) -> Value:
        """``hasattr(torch.ops.my, "op")``: whether the operator is defined when this is asked."""
        operator = f"{namespace}::{name}"
        if self._run.is_defined(operator):
            return True
        return self._run.question(question_text(namespace, name), operator, call.node, call.file)

    def _builtin(self, name: str, call: Call) -> Value:
        """Call one of Python's own functions."""
        match name, call.given:
            case "getattr", [owner, attribute, *default]:
                return self._getattr(owner, attribute, default, call)
            case "hasattr", [Dotted(owner), str() as attribute]:
                if owner == "torch.ops" or (owner, attribute) == ("torch.version", "git_version"):
                    return True  # each name is a namespace of operators
                if _is_operator_namespace(owner):
                    return self._has_operator(owner.rpartition(".")[2], attribute, call)
                if names.is_torch_api(f"{owner}.{attribute}", exact=True):
                    return True
            case "isinstance", [value, kinds]:
                return self._run.each(value, lambda chosen: names.is_instance(chosen, kinds), call.node)
            case "callable", [FunctionValue() | ClassValue()]:
                return True
            case "type", [None]:
                return Dotted("builtins.NoneType")
            case "map", [function, row] if (items := self._run.items(row)) is not None:
                return [self.apply(function, call.of(item)) for item in items]
            case _:
                return self._operations.function(name, call.given, call.keywords)
        raise NoResult

    def _getattr(self, owner: Value, name: Value, default: list[Value], call: Call) -> Value:
        """``getattr(owner, name)``, or with a default."""

        def attribute(of: Value, called: Value) -> Value:
            if not isinstance(called, str):
                raise NoResult
            return self._reader.attribute(of, called, call.node, call.scope)

        if default and isinstance(name, str):
            if isinstance(owner, FunctionValue) and not name.startswith("__") and name not in owner.attributes:
                return default[0]
            if isinstance(owner, Dotted) and _is_operator_namespace(owner.name):
                is_there = self._has_operator(owner.name.rpartition(".")[2], name, call)
                test = self._reader.truth_of(is_there, call.node)
                operator = attribute(owner, name)
                return operator if isinstance(test, bool) else conditional([test], operator, default[0])
        return self._run.pairs(owner, name, attribute, call.node)


def _is_operator_namespace(name: str) -> bool:
    """True for ``torch.ops.my``."""
    return name.startswith("torch.ops.") and name.count(".") == 2
