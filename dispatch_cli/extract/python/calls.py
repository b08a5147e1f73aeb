"""Names, attributes and calls: what they are, and what a call of the project's own functions does."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.expressions import Expressions, merged
from dispatch_cli.extract.python.methods import BUILTINS, NoResult, constant_method, items_of
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import (
    Alternatives,
    Bound,
    ClassValue,
    Dotted,
    EnumMember,
    FunctionValue,
    ImportedName,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    Opaque,
    OperatorHandle,
    Prepared,
    Scope,
    Value,
    ValueOption,
)
from dispatch_cli.model.condition import Condition

MAX_SIZE = 400
"""Expressions and statements of a function that is followed only for what it returns."""
MAX_CALLS = 30
"""Calls of the project's functions within each other."""


class CallFollower(Expressions):
    """Looks up names and follows calls."""

    def __init__(self, run: PythonRun) -> None:
        super().__init__(run)
        self.functions: list[FunctionValue] = []

    @abstractmethod
    def block(self, body: Sequence[ast.stmt], scope: Scope, returns: list[ValueOption]) -> object: ...

    @abstractmethod
    def module(self, file: str) -> Scope: ...

    @abstractmethod
    def here(self, value: Value) -> Value: ...

    @abstractmethod
    def torch_call(
        self, name: str, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value: ...

    @abstractmethod
    def torch_method(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value: ...

    @abstractmethod
    def dead(self, body: Sequence[ast.AST], file: str) -> None: ...

    def module_scope(self, scope: Scope) -> Scope:
        """The scope of the module that a scope is in."""
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def look_up(self, name: str, node: ast.AST, scope: Scope) -> Value:
        """What a name stands for."""
        home: Scope | None = scope
        while home is not None:
            if name in home.names and (not home.is_class or home is scope):
                return self._known(home, name)
            home = home.parent
        if name == "__name__":
            return self.run.index.dotted(scope.file)
        if name in names.BUILTIN_NAMES:
            return Dotted(f"builtins.{name}")
        return Opaque(node)

    def _known(self, home: Scope, name: str) -> Value:
        """What a name of a scope is; a module that it is imported from is read now."""
        found = home.names[name]
        if isinstance(found, ImportedName):
            home.names[name] = Opaque(found.node, name)  # modules may import each other
            found = self._from(found.node, found.node.module or "", found.name, self._importing(found.file))
            home.names[name] = found
        elif isinstance(found, Alternatives) and any(isinstance(one.value, ImportedName) for one in found.options):
            options = []
            for one in found.options:
                holder = Scope(home.file, names={name: one.value})
                options.append(ValueOption(one.when, self._known(holder, name)))
            found = home.names[name] = merged(options)
        return found

    def _importing(self, file: str) -> Scope:
        return Scope(file)

    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        """What an attribute of a value is."""
        match owner:
            case Dotted(base):
                return self._of_dotted(f"{base}.{name}", node, scope)
            case ModuleValue(file):
                return self.member(file, name, node)
            case FunctionValue():
                return self._of_function(owner, name, node)
            case ClassValue():
                return self._of_class(owner, owner, name, node)
            case InstanceValue():
                if name in owner.attributes:
                    return owner.attributes[name]
                return self._of_class(owner.of, owner, name, node)
            case EnumMember():
                return {"name": owner.name, "value": owner.value}.get(name, Opaque(node))
            case LibraryValue(block):
                if name == "ns":
                    return block.namespace if isinstance(block.namespace, str) else Opaque(node)
                if name == "kind":
                    return block.kind.name
                return Bound(owner, name)
            case OperatorHandle():
                return owner if name in ("_opoverload", "default") else self._of_operator(owner, name)
            case str() | list() | dict() | tuple():
                return Bound(owner, name)
            case Opaque() if names.looks_registering(name):
                return Bound(owner, name)
            case Prepared() if name == "func":
                return owner.function
        return Opaque(node)

    @staticmethod
    def _of_operator(owner: OperatorHandle, name: str) -> Value:
        if isinstance(owner.name, str):
            if name == "_qualname":
                return owner.name
            if name == "_name":
                return owner.name.partition("::")[2]
            if name == "_namespace":
                return owner.name.partition("::")[0]
        return Bound(owner, name)

    def _of_dotted(self, full: str, node: ast.AST, scope: Scope) -> Value:
        full = full.replace("torch._ops.ops", "torch.ops", 1) if full.startswith("torch._ops.ops") else full
        if ".DispatchKey." in full and full.endswith(".name"):
            return full.split(".")[-2]
        if full in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"):
            return False
        if full.startswith("torch.ops.") and names.looks_registering(full.rpartition(".")[2]):
            owner = full.rpartition(".")[0]
            if owner.count(".") >= 3:
                return Bound(Dotted(owner), full.rpartition(".")[2])
        if names.is_torch_api(full):
            return Dotted(full)
        module, _, name = full.rpartition(".")
        if found := self.run.index.absolute(full, scope.file):
            return ModuleValue(found)
        if found := self.run.index.absolute(module, scope.file):
            return self.member(found, name, node)
        return Dotted(full) if names.certain(full) else Opaque(node)

    def member(self, file: str, name: str, node: ast.AST) -> Value:
        """What a name of a module of the project is."""
        full = f"{self.run.index.dotted(file)}.{name}"
        if names.is_torch_api(full):
            return Dotted(full)
        inside = self.module(file)
        if name in inside.names:
            return self._known(inside, name)
        if found := self.run.index.absolute(full, file):
            return ModuleValue(found)
        if found := self.run.index.relative(file, 1, name) if file.endswith("__init__.py") else None:
            return ModuleValue(found)
        return Dotted(full) if names.certain(full) else Opaque(node)

    def _of_function(self, owner: FunctionValue, name: str, node: ast.AST) -> Value:
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
            found = self._known(cls.scope, name)
            if isinstance(found, FunctionValue):
                return self._method(found, cls, owner, node)
            if owner is cls and self._is_enum(cls) and not name.startswith("_"):
                return EnumMember(name, found)
            return found
        for base in cls.bases:
            if isinstance(base, ClassValue) and depth < 20:
                found = self._of_class(base, owner, name, node, depth + 1)
                if not isinstance(found, Opaque):
                    return found
        return Opaque(node)

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
        )
        return self.run_function(bound, [], {}, node) if function.kind == "property" else bound

    def _is_enum(self, cls: ClassValue, depth: int = 0) -> bool:
        return depth < 20 and any(
            (isinstance(base, Dotted) and base.name.startswith("enum."))
            or (isinstance(base, ClassValue) and self._is_enum(base, depth + 1))
            for base in cls.bases
        )

    # calls

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call; what the project's functions register on the way is found."""
        function = self.value(node.func, scope)
        given: list[Value] = []
        keywords: dict[str, Value] = {}
        complete = True
        for one in node.args:
            if isinstance(one, ast.Starred):
                items = items_of(self.value(one.value, scope))
                complete = complete and items is not None
                given.extend(items or [])
            else:
                given.append(self.value(one, scope))
        for keyword in node.keywords:
            found = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = found
            elif isinstance(found, dict) and all(isinstance(key, str) for key in found):
                keywords.update(found)
            else:
                complete = False
        if not complete and names.may_register(function):
            self.run.not_known(scope.file, node, "its arguments are not written out")
            return Opaque(node)
        return self.each(function, lambda one: self.apply(one, given, keywords, node, scope))

    def apply(
        self, function: Value, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Call a value."""
        if not isinstance(function, Opaque):
            self.run.seen_calls.add(id(node))
        match function:
            case FunctionValue():
                return self._followed(function, given, keywords, node, scope)
            case ClassValue():
                return self._instance(function, given, keywords, node, scope)
            case InstanceValue():
                method = self._of_class(function.of, function, "__call__", node)
                if isinstance(method, FunctionValue):
                    return self._followed(method, given, keywords, node, scope)
            case Prepared():
                return self._prepared(function, given, keywords, node, scope)
            case Bound():
                return self._bound(function, given, keywords, node, scope)
            case Dotted(name):
                return self._dotted_call(name, given, keywords, node, scope)
        return Opaque(node)

    def decorate(self, function: Value, value: Value, node: ast.AST, scope: Scope) -> Value:
        """What a decorator makes of a function or class."""
        if isinstance(function, Alternatives):
            return self.each(function, lambda one: self.decorate(one, value, node, scope))
        if isinstance(function, Dotted) and not names.is_torch_api(function.name):
            self.run.seen_calls.add(id(node))
            return value  # such as functools.cache: it is taken for the function itself
        if isinstance(function, Opaque):
            return value
        found = self.apply(function, [value], {}, node, scope)
        return value if isinstance(found, Opaque) else found

    def _followed(
        self, function: FunctionValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        self.run.calls.append((scope.file, node))
        try:
            return self.run_function(function, given, keywords, node)
        finally:
            self.run.calls.pop()

    def run_function(
        self, function: FunctionValue, given: list[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """Go through the body of a function."""
        code = function.node
        self.run.entered.add(id(code))
        if len(self.run.calls) > MAX_CALLS or self._active.count(id(code)) > 2:
            return Opaque(node)
        if not isinstance(code, ast.Lambda) and not self._worthwhile(code):
            return Opaque(node)
        inner = Scope(function.scope.file, function.scope)
        if function.bound:
            given = [function.binds, *given]
        self._bind(code.args, function, given, keywords, inner)
        if isinstance(code, ast.Lambda):
            return self.value(code.body, inner)
        self._active.append(id(code))
        size = len(self.run.when)
        returns: list[ValueOption] = []
        try:
            self.block(code.body, inner, returns)
        finally:
            self._active.pop()
        if names.is_generator(code):
            first = self._yielded(code, inner)
            return first if first is not None else Opaque(node)
        if not returns:
            return None
        relative = [ValueOption(one.when[size:], one.value) for one in returns]
        if len(relative) == 1:
            return relative[0].value
        return merged(relative)

    def _worthwhile(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function may register something, or is small enough to be followed for what it returns."""
        facts = names.function_facts(code)
        if facts.called & names.CALLED or facts.called & self.run.helpers:
            return True
        return facts.size <= MAX_SIZE and len(self._active) <= 8

    def _yielded(self, code: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Value:
        """What a context manager made of a generator gives: what its first ``yield`` names."""
        for one in ast.walk(code):
            if isinstance(one, ast.Yield) and isinstance(one.value, ast.Name):
                return scope.names.get(one.value.id)
        return None

    def _bind(
        self,
        arguments: ast.arguments,
        function: FunctionValue,
        given: list[Value],
        keywords: dict[str, Value],
        scope: Scope,
    ) -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        left = dict(keywords)
        first_default = len(positional) - len(function.defaults)
        for place, parameter in enumerate(positional):
            if place < len(given):
                value = given[place]
            elif parameter.arg in left:
                value = left.pop(parameter.arg)
            elif place >= first_default:
                value = function.defaults[place - first_default]
            else:
                value = Opaque(parameter, parameter.arg)
            scope.names[parameter.arg] = value
        for parameter in arguments.kwonlyargs:
            if parameter.arg in left:
                scope.names[parameter.arg] = left.pop(parameter.arg)
            elif parameter.arg in function.keyword_defaults:
                scope.names[parameter.arg] = function.keyword_defaults[parameter.arg]
            else:
                scope.names[parameter.arg] = Opaque(parameter, parameter.arg)
        if arguments.vararg is not None:
            scope.names[arguments.vararg.arg] = tuple(given[len(positional) :])
        if arguments.kwarg is not None:
            scope.names[arguments.kwarg.arg] = left

    def _instance(
        self, cls: ClassValue, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        if self._is_enum(cls):
            return Opaque(node)
        instance = InstanceValue(cls)
        start = self._of_class(cls, instance, "__init__", node)
        if isinstance(start, FunctionValue):
            self._followed(start, given, keywords, node, scope)
        return instance

    def _prepared(
        self, function: Prepared, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        place = function.place if function.decorator and function.place is not None else node
        return self.apply(
            function.function, [*function.arguments, *given], {**function.keywords, **keywords}, place, scope
        )

    def _bound(
        self, bound: Bound, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        if isinstance(bound.owner, str | list | dict | tuple):
            if isinstance(bound.owner, list) and bound.name in ("append", "insert"):
                given = [*given[:-1], self.here(given[-1])] if given else given
            try:
                return constant_method(bound.owner, bound.name, given, keywords)
            except NoResult:
                return Opaque(node)
        return self.torch_method(bound, given, keywords, node, scope)

    def _dotted_call(
        self, name: str, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        if name.startswith("builtins."):
            return self._builtin(name.removeprefix("builtins."), given, keywords, node, scope)
        if name in ("functools.partial", "functools.partialmethod") and given:
            return Prepared(given[0], tuple(given[1:]), keywords)
        if name in ("functools.wraps", "functools.update_wrapper") and given:
            return Prepared(Dotted("functools.wrapped"), (given[0],))
        if name == "functools.wrapped" and len(given) == 2:
            if isinstance(given[1], FunctionValue) and isinstance(given[0], FunctionValue):
                given[1].wrapped = given[0]
            return given[1]
        if name in names.TRANSPARENT and given:
            return given[0]
        if name in names.FACTORIES:
            return Dotted(name)  # ``@lru_cache(None)``: what it returns is a decorator
        if name == "itertools.product" and not keywords:
            return names.product([items_of(one) for one in given], node)
        if name == "itertools.chain":
            rows = [items_of(one) for one in given]
            return Opaque(node) if None in rows else [item for row in rows if row for item in row]
        return self.torch_call(name, given, keywords, node, scope)

    def _builtin(self, name: str, given: list[Value], keywords: dict[str, Value], node: ast.AST, scope: Scope) -> Value:
        if name == "getattr" and len(given) >= 2:
            return self.pairs(
                given[0],
                given[1],
                lambda owner, attribute: (
                    self.attribute(owner, attribute, node, scope) if isinstance(attribute, str) else Opaque(node)
                ),
            )
        if name == "hasattr" and len(given) == 2 and isinstance(given[0], Dotted) and isinstance(given[1], str):
            if given[0].name == "torch.version" and given[1] == "git_version":
                return True
            return True if names.is_torch_api(f"{given[0].name}.{given[1]}", exact=True) else Opaque(node)
        if name == "isinstance" and len(given) == 2:
            known = names.is_instance(given[0], given[1])
            return Opaque(node) if known is None else known
        if name == "callable" and given and isinstance(given[0], FunctionValue | ClassValue):
            return True
        if name in ("print", "setattr"):
            return None
        if name == "map" and len(given) == 2 and (items := items_of(given[1])) is not None:
            return [self.apply(given[0], [one], {}, node, scope) for one in items]
        if name in BUILTINS and not any(isinstance(one, Opaque) for one in given):
            try:
                return BUILTINS[name](*given, **keywords)
            except Exception:  # what Python's own functions raise, or `NoResult`
                return Opaque(node)
        if name in ("int", "float", "bool") and len(given) == 1 and isinstance(given[0], str | int | float):
            try:
                return {"int": int, "float": float, "bool": bool}[name](given[0])
            except (ValueError, OverflowError):
                return Opaque(node)
        return Opaque(node)

    # imports

    def import_names(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Bind what an import names."""
        home = scope
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.asname:
                    home.names[one.asname] = self._imported(one.name, scope)
                else:
                    top = one.name.partition(".")[0]
                    home.names[top] = self._imported(top, scope)
            return
        for one in node.names:
            if one.name == "*":
                self._star(node, scope)
                continue
            set_value = self.run.values(scope.file).get(one.asname or one.name)
            home.names[one.asname or one.name] = set_value[0] if set_value else ImportedName(node, scope.file, one.name)

    def _imported(self, name: str, scope: Scope) -> Value:
        if names.is_torch_api(name):
            return Dotted(name)
        found = self.run.index.absolute(name, scope.file)
        if found and name != "torch":
            return ModuleValue(found)
        self.run.modules.add(name)
        return Dotted(name)

    def _from(self, node: ast.ImportFrom, base: str, name: str, scope: Scope) -> Value:
        if not node.level:
            return self._of_dotted_import(f"{base}.{name}", node, scope)
        file = self.run.index.relative(scope.file, node.level, base)
        if file is not None and file != scope.file:
            return self.member(file, name, node)
        beside = self.run.index.relative(scope.file, node.level, f"{base}.{name}" if base else name)
        if beside is not None:
            return ModuleValue(beside)
        if file is not None:
            return self.member(file, name, node)
        own = self.run.index.dotted(scope.file).split(".")
        keep = len(own) - node.level + (1 if scope.file.endswith("__init__.py") else 0)
        full = ".".join([*own[: max(0, keep)], *([base] if base else []), name])
        return Dotted(full)

    def _of_dotted_import(self, full: str, node: ast.ImportFrom, scope: Scope) -> Value:
        found = self._of_dotted(full, node, scope)
        return Dotted(full) if isinstance(found, Opaque) and found.node is node else found

    def _star(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = node.module or ""
        file = (
            self.run.index.relative(scope.file, node.level, base)
            if node.level
            else self.run.index.absolute(base, scope.file)
        )
        if file is None or names.is_torch_api(base):
            for name in names.star_names(base):
                scope.names[name] = Dotted(f"{base}.{name}")
            return
        inside = self.module(file)
        listed = inside.names.get("__all__")
        wanted = items_of(listed) if listed is not None else None
        for name in wanted if wanted is not None else [one for one in inside.names if not one.startswith("_")]:
            if isinstance(name, str) and name in inside.names:
                scope.names[name] = self._known(inside, name)

    def importable(self, name: str, scope: Scope) -> bool:
        """Whether the import of a module is assumed to succeed."""
        return names.certain(name) or self.run.index.absolute(name, scope.file) is not None

    def import_condition(self, node: ast.ImportFrom, scope: Scope) -> Condition | None:
        """The condition that ``from … import`` succeeds; None where it is assumed."""
        return names.import_condition(node, scope.file, self.run.index)

    @property
    def _active(self) -> list[int]:
        return self.run.active
