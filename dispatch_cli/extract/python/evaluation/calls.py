"""Calls: of the project's functions, of Python's own, and of others."""

from __future__ import annotations

import ast
from dataclasses import replace

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import signature_of, type_arguments, type_origin
from dispatch_cli.extract.python.evaluation.binding import Bindings
from dispatch_cli.extract.python.evaluation.evaluator import Call, Evaluator
from dispatch_cli.extract.python.evaluation.lookups import Lookups
from dispatch_cli.extract.python.evaluation.methods import (
    BUILTINS,
    NoResult,
    constant_method,
)
from dispatch_cli.extract.python.evaluation.options import conditional, exclusive, is_type, merged
from dispatch_cli.extract.python.evaluation.values import (
    MAX_PARTS,
    Alternatives,
    Bound,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    Opaque,
    Prepared,
    Scope,
    Value,
    ValueOption,
)
from dispatch_cli.extract.python.evaluation.versions import VERSION_CLASSES, ByVersion, Version
from dispatch_cli.extract.python.keys import FIND_SCHEMA
from dispatch_cli.extract.python.torch_calls import TorchCalls
from dispatch_cli.model.sources.source_conditions import question_text

MAX_CALLS = 30
"""Calls of the project's functions within each other."""


class Calls:
    """Follows calls."""

    def __init__(self, reader: Evaluator, lookups: Lookups, bindings: Bindings, torch: TorchCalls) -> None:
        self._reader = reader
        self._run = reader.run
        self._lookups = lookups
        self._bindings = bindings
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
        if not complete and names.may_register(function):
            self._run.not_known(scope.file, node, "its arguments are not written out")
            return Opaque(node)
        return self._run.each(function, lambda option: self.apply(option, Call(given, keywords, node, scope)))

    def apply(self, function: Value, call: Call) -> Value:
        """Call a value."""
        if not isinstance(function, Opaque):
            self._run.seen_calls.add(id(call.node))
        match function:
            case FunctionValue():
                return self._followed(function, call)
            case ClassValue():
                return self._instance(function, call)
            case InstanceValue():
                method = self._lookups.of_class(function.of, function, "__call__", call.node)
                if isinstance(method, FunctionValue):
                    return self._followed(method, call)
            case Prepared():
                return self._prepared(function, call)
            case Bound():
                return self._bound(function, call)
            case Dotted(name):
                return self._function(name, call)
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
        if isinstance(function, Opaque):
            return value
        result = self.apply(function, Call([value], {}, node, scope))
        return value if isinstance(result, Opaque) else result

    def _followed(self, function: FunctionValue, call: Call) -> Value:
        self._run.calls.append((call.file, call.node))
        try:
            return self.run_function(function, call)
        finally:
            self._run.calls.pop()

    def run_function(self, function: FunctionValue, call: Call) -> Value:
        """Go through the body of a function."""
        code = function.node
        self._run.entered.add(id(code))
        if (
            len(self._run.calls) > MAX_CALLS
            or self._run.active.count(id(code)) > 2
            or not (isinstance(code, ast.Lambda) or self._worthwhile(code))
        ):
            return Opaque(call.node)
        inner = Scope(function.scope.file, function.scope)
        given = [function.binds, *call.given] if function.bound else call.given
        self._bind(function, given, call.keywords, inner)
        if isinstance(code, ast.Lambda):
            return self._reader.value(code.body, inner)
        count = len(self._run.active)
        self._run.active.append(id(code))
        size = len(self._run.when)
        returns: list[ValueOption] = []
        try:
            if self._registers(code):
                self._reader.block(code.body, inner, returns)
            elif id(code) in self._run.too_long or not self._run.for_value(
                lambda: self._reader.block(code.body, inner, returns)
            ):
                self._run.too_long.add(id(code))
                return Opaque(call.node)
        finally:
            del self._run.active[count:]
        if names.is_generator(code):
            return Opaque(call.node)
        if not returns:
            return None
        relative = [ValueOption(option.when[size:], option.value) for option in returns]
        if len(relative) == 1:
            return relative[0].value
        if all(type(option.value) is Opaque for option in relative):
            return Opaque(call.node)  # what decides between values that are not known says nothing
        return merged(exclusive(relative))

    def _worthwhile(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """True if a function may register something, or is small enough to be followed for what it returns."""
        facts = names.function_facts(code)
        return self._registers(code) or (facts.size <= facts.limit and len(self._run.active) <= 8)

    def _registers(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        return names.may_register_in(code, self._run.helpers)

    def _bind(self, function: FunctionValue, given: list[Value], keywords: dict[str, Value], scope: Scope) -> None:
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        left = dict(keywords)
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
            return Opaque(call.node)
        instance = InstanceValue(cls)
        start = self._lookups.of_class(cls, instance, "__init__", call.node)
        if isinstance(start, FunctionValue):
            self._followed(start, call)
        return instance

    def _prepared(self, function: Prepared, call: Call) -> Value:
        call = call.of(*function.arguments, *call.given, **{**function.keywords, **call.keywords})
        if not function.path:
            return self.apply(function.function, call)
        file, made_at = function.path[-1]
        home = call.scope if file == call.file else Scope(file)
        with self._run.following(function.path[:-1]):
            return self.apply(function.function, replace(call, node=made_at, scope=home))

    def _bound(self, bound: Bound, call: Call) -> Value:
        given = call.given
        if not isinstance(bound.owner, str | list | dict | tuple):
            return self._torch.method(bound, call)
        if isinstance(bound.owner, list) and bound.name in ("append", "insert"):
            given = [*given[:-1], self._run.here(given[-1])] if given else given
        if bound.name == "join" and given and isinstance(given[0], list):
            given = [[self._run.holding(part) for part in given[0]]]
        try:
            return constant_method(bound.owner, bound.name, given, call.keywords, self._run.affords)
        except NoResult:
            return Opaque(call.node)

    # functions that are not the project's

    def _function(self, name: str, call: Call) -> Value:
        """Call a function by its full name."""
        given, node = call.given, call.node
        if name in VERSION_CLASSES or name.startswith("builtins."):
            places = [place for place, part in enumerate(given) if isinstance(part, ByVersion)]
            if len(places) == 1:
                return self._run.each(
                    given[places[0]], lambda chosen: self._function(name, call.with_argument(places[0], chosen))
                )
        if name in VERSION_CLASSES and given and isinstance(given[0], str):
            return Version(given[0])
        if name in ("importlib.metadata.version", "importlib_metadata.version") and given == ["torch"]:
            return self._reader.attribute(Dotted("torch"), "__version__", node, call.scope)
        if name in ("importlib.import_module", "builtins.__import__") and given and isinstance(given[0], str):
            whole = name.startswith("importlib") and not given[0].startswith(".")
            module = given[0] if whole else given[0].partition(".")[0]
            return self._bindings.imported(module, call.scope) if module else Opaque(node)
        if name.startswith("builtins."):
            return self._builtin(name.removeprefix("builtins."), call)
        if name in ("functools.partial", "functools.partialmethod") and given:
            return Prepared(given[0], tuple(given[1:]), call.keywords)
        if name in ("functools.wraps", "functools.update_wrapper") and given:
            return Prepared(Dotted("functools.wrapped"), (given[0],))
        if name == "functools.wrapped" and len(given) == 2:
            if isinstance(given[1], FunctionValue):
                given[1].wrapped = given[0] if isinstance(given[0], FunctionValue) else Opaque(node)
            return given[1]
        if name == "inspect.signature" and len(given) == 1 and isinstance(given[0], FunctionValue):
            return signature_of(given[0], self._reader.value)
        if name in ("typing.get_origin", "typing.get_args") and len(given) == 1 and is_type(given[0]):
            return type_origin(given[0]) if name == "typing.get_origin" else type_arguments(given[0])
        if name.startswith("torch._C._dispatch_has_kernel") and given and all(isinstance(part, str) for part in given):
            text = f"{name}({', '.join(map(repr, given))})"
            return self._run.question(text, given[0], node, call.file)
        if name == FIND_SCHEMA and given and isinstance(given[0], str):
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
        return self._run.question(question_text(namespace, name), operator, call.node, call.file)

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
        if name == "isinstance" and len(given) == 2:
            return self._run.each(
                given[0],
                lambda value: Opaque(node) if (known := names.is_instance(value, given[1])) is None else known,
            )
        if name == "callable" and given and isinstance(given[0], FunctionValue | ClassValue):
            return True
        if name == "type" and given == [None]:
            return Dotted("builtins.NoneType")
        if name == "map" and len(given) == 2 and (items := self._run.items(given[1])) is not None:
            return [self.apply(given[0], call.of(item)) for item in items]
        if name in BUILTINS and not any(isinstance(part, Opaque) for part in given):
            if not self._run.affords(*given, *call.keywords.values()):
                return Opaque(node)
            try:
                return BUILTINS[name](*given, **call.keywords)
            except Exception:  # what Python's own functions raise, or `NoResult`
                return Opaque(node)
        return Opaque(node)


def _is_operator_namespace(value: Value) -> bool:
    """True for ``torch.ops.my``."""
    return isinstance(value, Dotted) and value.name.startswith("torch.ops.") and value.name.count(".") == 2
