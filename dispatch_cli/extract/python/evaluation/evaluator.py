"""The value of an expression, without running anything: of names, operators and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.annotations import signature_of
from dispatch_cli.extract.python.evaluation.operations import Operations
from dispatch_cli.extract.python.evaluation.values import (
    MAX_NAME,
    MAX_PARTS,
    PARTS,
    Alternatives,
    Bound,
    Call,
    ClassValue,
    Dotted,
    FunctionValue,
    ImportedName,
    InstanceValue,
    Items,
    LibraryValue,
    ModuleValue,
    NoResult,
    Opaque,
    OperatorHandle,
    Prepared,
    Scope,
    SuperValue,
    Value,
    ValueOption,
    atom,
    conditional,
    constant,
    decided,
    default_nodes,
    exclusive,
    function_name,
    joined,
    merged,
    source_text,
)
from dispatch_cli.extract.python.evaluation.versions import (
    VERSION_CLASSES,
    VERSION_OF_TORCH,
    ByVersion,
    Version,
    condition_of,
)
from dispatch_cli.extract.python.names import METHODS, TORCH_FUNCTIONS
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.torch_calls import TorchCalls
from dispatch_cli.model.conditions.condition import Atom, Condition, negated
from dispatch_cli.model.conditions.worlds import TORCH_VERSION
from dispatch_cli.model.sources.source_conditions import question_text

MAX_DEPTH = 120
"""Maximum depth of expressions, statements and calls together."""
MAX_SIZE = 150
"""Expressions and statements of a function that is followed only for what it returns."""
MAX_VALUE_CALLS = 5_000
"""Calls of such functions in a module: the other work is for what registers something."""
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Evaluator:
    """Evaluates expressions.

    block, assign: of `Statements`: go through statements; bind a name, the parts of a tuple, an attribute or an item.
    module: the names of a module, by its file.
    """

    block: Callable[[Sequence[ast.stmt], Scope], object]
    assign: Callable[[ast.expr, Value, Scope], None]
    module: Callable[[str], Scope]

    def __init__(self, run: PythonRun) -> None:
        self.run = run
        self.torch = TorchCalls(run, self.value)
        self._operations = Operations(run)
        self._imported: dict[ImportedName, Value] = {}
        self._depended: dict[str, dict[tuple[Value, ...], int]] = {}
        self._kept: dict[int, Value] = {}

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        self.run.spend()
        self.run.now.depth += 1
        try:
            if self.run.now.depth > MAX_DEPTH:
                return Opaque(node)
            result = self._value(node, scope)
            if isinstance(result, str | list | dict | tuple) and len(result) > 64 and not isinstance(node, ast.Name):
                self.run.spend(len(result) // (PARTS if isinstance(result, str) else 4))
            return result
        except (NoResult, RecursionError):
            return Opaque(node)
        finally:
            self.run.now.depth -= 1

    def _set(self, node: ast.expr, scope: Scope) -> tuple[Value] | None:
        """Value that ``--set`` gives to the expression, in a tuple; None where it gives none."""
        values = self.run.values(scope.file)
        return values.get(self.run.text(node)) if values else None

    # tests

    def truth(self, node: ast.expr, scope: Scope) -> bool | Condition:
        """Truth of a test, or the condition under which it holds."""
        if isinstance(node, ast.BoolOp) and self._set(node, scope) is None:
            parts = [self.truth(value, scope) for value in node.values]
            return self._joined_truth(parts, isinstance(node.op, ast.And), node, scope)
        return self.truth_of(self.value(node, scope), node, scope)

    def truth_of(self, value: Value, node: ast.AST, scope: Scope) -> bool | Condition:
        """Truth of a value, or the condition under which it is true."""
        if isinstance(value, Alternatives):
            ways = [[*option.when, self.truth_of(option.value, node, scope)] for option in value.options]
            return self._joined_truth([self._joined_truth(way, True, node, scope) for way in ways], False, node, scope)
        if isinstance(value, ByVersion):
            of_version = condition_of(value.values, decided)
            return self._atom(node, scope) if of_version is None else of_version
        if isinstance(value, Dotted) and value.name in names.TORCH_FUNCTIONS:
            return True
        return bool(value) if decided(value) else self._atom(node, scope)

    def _joined_truth(
        self, parts: list[bool | Condition], conjunction: bool, node: ast.AST, scope: Scope
    ) -> bool | Condition:
        self.run.spend(1 << min(2 * len(parts), 10))
        whole = joined(parts, conjunction)
        return self._atom(node, scope) if whole is None else whole

    def _atom(self, node: ast.AST, scope: Scope) -> Condition:
        """The condition of a test; the test of other values is another condition."""
        text = self.run.text(node)
        number = self._number(text, node, scope)
        return atom(text) if number < 2 else Atom(f"{atom(text)} (value {number})")

    def note_dependence(self, value: Value, scope: Scope) -> None:
        """Note what a value depends on when it gets a name."""
        for option in value.options if isinstance(value, Alternatives) else (ValueOption((), value),):
            inner = option.value
            if isinstance(inner, Opaque) and inner.node is not None and not inner.of:
                inner.of = self._number("", inner.node, scope)

    def _number(self, text: str, node: ast.AST, scope: Scope) -> int:
        """The number of the values that names in an expression have; 0 where nothing gives the names values."""
        values: dict[Value, None] = {}
        for part in names.every_node(node):
            self.run.spend(1)
            if isinstance(part, ast.Name):
                with suppress(NoResult):
                    value = self.look_up(part.id, scope)
                    if function_name(value).rpartition(".")[2] != part.id:
                        values[self._identity(value)] = None
        seen = self._depended.setdefault(text, {})
        return seen.setdefault((*values,), len(seen) + 1) if values else 0

    def _identity(self, value: Value) -> Value:
        """A key that two values share only if every test gives the same result for both."""
        if isinstance(value, Alternatives):
            return tuple((option.when, self._identity(option.value)) for option in value.options)
        if isinstance(value, Opaque | ModuleValue):
            return (value.text, value.of) if isinstance(value, Opaque) else value.file
        if constant(value) or isinstance(value, Dotted):
            return value
        self._kept[id(value)] = value  # its identity is of no other value while it is there
        return (id(value),)

    # values. Errors: `NoResult`

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        if not isinstance(node, ast.Constant) and (setting := self._set(node, scope)) is not None:
            return setting[0]
        match node:
            case ast.Constant():
                return self._operations.do(lambda: node.value)
            case ast.Name():
                return self.look_up(node.id, scope)
            case ast.Attribute():
                owner = self.value(node.value, scope)
                return self.run.each(owner, lambda chosen: self.attribute(chosen, node.attr, scope), node)
            case ast.Call():
                return self.call(node, scope)
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._collection(node, scope)
            case ast.Dict():
                return self._dictionary(node, scope)
            case ast.BinOp():
                left, right = self.value(node.left, scope), self.value(node.right, scope)
                return self.run.pairs(left, right, partial(self._operations.binary, node.op), node)
            case ast.Compare():
                return self._compared(node, scope)
            case ast.BoolOp():
                return self._bool_value(node, scope)
            case ast.UnaryOp(op=ast.Not()):
                truth = self.truth(node.operand, scope)
                return not truth if isinstance(truth, bool) else conditional([negated(truth)], True, False)
            case ast.UnaryOp():
                value = self.value(node.operand, scope)
                if isinstance(value, int | float):
                    return -value if isinstance(node.op, ast.USub) else value
            case ast.IfExp():
                return self._either(node, scope)
            case ast.Subscript():
                owner, key = self.value(node.value, scope), self.value(node.slice, scope)
                if not isinstance(owner, Opaque):
                    return self.run.pairs(owner, key, self._operations.item, node)
            case ast.Slice():
                bounds = [bound and self.value(bound, scope) for bound in (node.lower, node.upper, node.step)]
                if all(bound is None or isinstance(bound, int) for bound in bounds):
                    return slice(*bounds)
            case ast.Lambda():
                defaults = {name: self.value(part, scope) for name, part in default_nodes(node.args).items()}
                return FunctionValue(node, scope, defaults=defaults)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                first = self.value(node.generators[0].iter, scope)
                return self.run.each(first, lambda chosen: self._comprehended(node, chosen, scope), node)
            case ast.Yield() | ast.YieldFrom():
                item = None if node.value is None else self.value(node.value, scope)
                unsure = isinstance(node, ast.YieldFrom) or self.run.now.uncertain is not None
                when = (*self.run.now.when, *([atom("yield")] if unsure else []))
                scope.yielded.append(ValueOption(when, item))
            case ast.NamedExpr():
                value = self.value(node.value, scope)
                self.assign(node.target, value, scope)
                return value
        raise NoResult

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        """The text of an f-string, for each of the values that its parts may have."""
        result: Value = ""
        for piece in node.values:
            text: Value = getattr(piece, "value", "")
            if isinstance(piece, ast.FormattedValue):
                if piece.format_spec is not None or piece.conversion != -1:
                    raise NoResult
                value = self.value(piece.value, scope)
                text = self.run.each(value, lambda part: self._operations.function("str", [part], {}), piece)
            result = self.run.pairs(result, text, partial(self._operations.binary, ast.Add()), node)
        return result

    def _collection(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        values, complete = self._elements(node.elts, scope)
        if not complete:
            raise NoResult
        self._operations.afford(values)
        if isinstance(node, ast.List):
            return values
        return tuple(values) if isinstance(node, ast.Tuple) else self._operations.function("set", [values], {})

    def _elements(self, nodes: Sequence[ast.expr], scope: Scope) -> tuple[list[Value], bool]:
        """The values of expressions, up to a starred one that is not known; False where there is one."""
        values: list[Value] = []
        complete = True
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node, scope)
            items = self.run.items(value) if isinstance(node, ast.Starred) else [value]
            complete = complete and items is not None and len(values) + len(items) <= MAX_PARTS
            values.extend(items if items and complete else [])
        return values, complete

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        values: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, scope)
            if key is None:
                if not isinstance(inner, dict) or len(values) + len(inner) > MAX_PARTS:
                    raise NoResult
                self.run.spend(len(inner) // PARTS)
                values.update(inner)
                continue
            known = self.value(key, scope)
            self._operations.afford(known)
            self._operations.do(values.__setitem__, known, inner)
        self._operations.afford(values)
        return values

    def _comprehended(self, node: _Comprehension, first: Value, scope: Scope) -> Value:
        """The value of a comprehension: what loops yield. first: what the first of them goes through."""
        element = ast.Tuple([node.key, node.value], ast.Load()) if isinstance(node, ast.DictComp) else node.elt
        body: ast.stmt = ast.Expr(ast.Yield(element))
        for place, generator in reversed([*enumerate(node.generators)]):
            for test in reversed(generator.ifs):
                body = ast.If(test, [body], [])
            iterated = generator.iter if place else ast.Name("", ast.Load())
            body = ast.copy_location(ast.For(generator.target, iterated, [body], []), node)
        inner, size = Scope(scope.file, scope, names={"": first}), len(self.run.now.when)
        self.block([body], inner)
        values = self._yielded(inner, size)
        kind = {ast.DictComp: "dict", ast.SetComp: "set", ast.ListComp: "list"}.get(type(node))
        return values if kind is None else self._operations.function(kind, [values], {})

    def _yielded(self, scope: Scope, size: int) -> Items:
        """The values that a function yields under its *size* conditions. Errors: `NoResult`, if one may be left out."""
        if any(len(option.when) > size for option in scope.yielded) or len(scope.yielded) > MAX_PARTS:
            raise NoResult
        return Items(option.value for option in scope.yielded)

    def _compared(self, node: ast.Compare, scope: Scope) -> Value:
        sides = [node.left, *node.comparators]
        if len(node.ops) > 1:
            parts = zip(sides, node.ops, node.comparators, strict=False)
            tests: list[ast.expr] = [ast.Compare(left, [kind], [right]) for left, kind, right in parts]
            return self._bool_value(ast.BoolOp(ast.And(), tests), scope)
        left, right = (self.value(side, scope) for side in sides)
        return self.run.pairs(left, right, partial(self._operations.compare, node.ops[0]), node)

    def _bool_value(self, node: ast.BoolOp, scope: Scope, place: int = 0) -> Value:
        """The value of ``and`` or ``or``, from an operand on: where it does not decide, that of the rest."""
        operand, rest = node.values[place], node.values[place + 1 :]
        value = self.value(operand, scope)

        def chosen(option: Value) -> Value:
            truth = self.truth_of(option, operand, scope)
            if not isinstance(truth, bool):
                raise NoResult
            return option if truth is isinstance(node.op, ast.Or) else self._bool_value(node, scope, place + 1)

        result = self.run.each(value, chosen) if rest else value
        if result is value:
            self.run.dead(rest)
        return result

    def _either(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            self.run.dead([node.orelse if test else node.body])
            return self.value(node.body if test else node.orelse, scope)
        with self.run.under((test,)):
            first = self.value(node.body, scope)
        with self.run.under((negated(test),)):
            second = self.value(node.orelse, scope)
        return conditional([test], first, second)

    # names

    def look_up(self, name: str, scope: Scope) -> Value:
        """Value of a name. Errors: `NoResult`."""
        home: Scope | None = scope
        while home is not None:
            if name in home.names and (not home.is_class or home is scope):
                return self.known(home, name)
            home = home.parent
        if name == "__name__":
            return self.run.index.dotted(scope.file)
        if name in names.BUILTIN_NAMES:
            return Dotted(f"builtins.{name}")
        raise NoResult

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
            self.run.spend(10)
            self._imported[value] = Opaque(value.node, name)  # modules may import each other
            with suppress(NoResult):
                self._imported[value] = self._from(value.node, value.name, Scope(value.file))
        return self._imported[value]

    def attribute(self, owner: Value, name: str, scope: Scope) -> Value:
        """Value of an attribute of a value. Errors: `NoResult`."""
        match owner:
            case Dotted(base) if name in ("__name__", "__qualname__") and base.startswith("builtins."):
                return base.removeprefix("builtins.")
            case Dotted(base):
                return self._of_dotted(f"{base}.{name}", scope)
            case ModuleValue(file):
                return self.member(file, name)
            case FunctionValue():
                return self._of_function(owner, name)
            case ClassValue():
                return self._of_class(owner, owner, name)
            case InstanceValue(attributes=own) if name in own:
                return own[name]
            case InstanceValue(ClassValue() as cls):
                with suppress(NoResult):
                    return self._of_class(cls, owner, name)
                if name in METHODS:  # of a base class that is not read, such as HigherOrderOperator
                    return Bound(owner, name)
            case SuperValue(InstanceValue(ClassValue() as cls) | (ClassValue() as cls) as of, home):
                return self._of_class(cls, of, name, home)
            case OperatorHandle() if name in ("_opoverload", "default"):
                return owner
            case Version() if (own := owner.attribute(name)) is not None:
                return own
            case LibraryValue(block) if name == "ns" and isinstance(block.namespace, str):
                return block.namespace
            case str() | list() | dict() | tuple() | OperatorHandle() | LibraryValue():
                return Bound(owner, name)
            case Opaque() if name in METHODS:
                return Bound(owner, name)
        raise NoResult

    def _of_dotted(self, full: str, scope: Scope) -> Value:
        if len(full) > MAX_NAME:
            raise NoResult
        if full in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"):
            return False
        owner, _, name = full.rpartition(".")
        if name == "__name__" and _is_operator_namespace(owner):
            return owner
        if name == "_qualified_op_name" and owner.startswith("torch.ops."):
            return owner.removeprefix("torch.ops.").replace(".", "::", 1)
        in_namespace = owner.startswith("torch.ops.") and owner.count(".") < 3
        if full.startswith("torch.") and name in METHODS and full not in TORCH_FUNCTIONS and not in_namespace:
            return Bound(Dotted(owner), name)
        if full == TORCH_VERSION:
            return self.run.values(scope.file).get(full, (VERSION_OF_TORCH,))[0]
        if names.is_torch_api(full):
            return Dotted(full)
        if module_file := self.run.index.absolute(full, scope.file):
            return ModuleValue(module_file)
        if module_file := self.run.index.absolute(owner, scope.file):
            return self.member(module_file, name)
        if names.certain(full):
            return Dotted(full)
        raise NoResult

    def member(self, file: str, name: str) -> Value:
        """Value of a name of a module of the project. Errors: `NoResult`."""
        index = self.run.index
        full = f"{index.dotted(file)}.{name}"
        if names.is_torch_api(full):
            return Dotted(full)
        if full.rpartition(".")[0] != "torch" and index.mentions(file, name):
            inside = self.module(file)
            if name in inside.names:
                return self.known(inside, name)
        beside = index.relative(file, 1, name) if file.endswith("__init__.py") else None
        if module_file := index.absolute(full, file) or beside:
            return ModuleValue(module_file)
        if names.certain(full):
            return Dotted(full)
        raise NoResult

    def _from(self, node: ast.ImportFrom, name: str, scope: Scope) -> Value:
        """Value of a name that an import binds. Errors: `NoResult`."""
        base = node.module or ""
        if not node.level:
            try:
                return self._of_dotted(f"{base}.{name}", scope)
            except NoResult:
                return Dotted(f"{base}.{name}")
        file = self.run.index.relative(scope.file, node.level, base)
        if file is not None and file != scope.file:
            return self.member(file, name)
        beside = self.run.index.relative(scope.file, node.level, f"{base}.{name}" if base else name)
        if beside is not None:
            return ModuleValue(beside)
        namespace = self.run.extension_names.of_generated_module(scope.file) if base == "_ops" else None
        if namespace is not None and name == "ops":  # of the module that kernel-builder makes when it builds a package
            return Dotted(f"torch.ops.{namespace}")
        if namespace is not None and name == "add_op_namespace_prefix":
            return Bound(f"{namespace}::{{}}", "format")
        return Dotted(f"{'.' * node.level}{base}.{name}")

    # imports

    def import_names(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Bind what an import names."""
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.partition(".")[0]
                scope.names[name.asname or top] = self.imported(name.name if name.asname else top, scope)
            return
        for name in node.names:
            bound, base = name.asname or name.name, node.module or ""
            if name.name != "*":
                value = ImportedName(node, scope.file, name.name)
                scope.names[bound] = self.run.values(scope.file).get(bound, (value,))[0]
                continue
            index = self.run.index
            file = index.relative(scope.file, node.level, base) if node.level else index.absolute(base, scope.file)
            if file is not None and not names.is_torch_api(base):
                there = self.module(file).names
                listed = self.run.items(there["__all__"]) if "__all__" in there else None
                public = [each for each in there if not each.startswith("_")] if listed is None else listed
                self.run.spend(len(public))
                scope.names.update((each, there[each]) for each in public if isinstance(each, str) and each in there)

    def imported(self, name: str, scope: Scope) -> Value:
        """The module of a name."""
        if names.is_torch_api(name):
            return Dotted(name)
        file = self.run.index.absolute(name, scope.file)
        if file and name != "torch":
            return ModuleValue(file)
        self.run.modules.add(name)
        return Dotted(name)

    def condition(self, node: ast.Import | ast.ImportFrom | ast.Expr, scope: Scope) -> Condition | None:
        """The condition that an import or a test succeeds; None where it is assumed."""
        index, file = self.run.index, scope.file
        if isinstance(node, ast.Expr):
            test = self.truth(node.value, scope)
            return None if isinstance(test, bool) else test
        if isinstance(node, ast.Import):
            unsure = (name.name for name in node.names if not names.certain(name.name))
            absent = next((name for name in unsure if index.absolute(name, file) is None), None)
            return None if absent is None else Atom(f"import {absent}")
        base = node.module or ""
        if node.level:
            path = index.relative(file, node.level, base)
            asked = (name.name for name in node.names)  # modules of the package, or names that it binds itself
            there = (index.relative(file, node.level, name) or (path and index.mentions(path, name)) for name in asked)
            if (base and path) or (not base and all(there)):
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

    def _of_function(self, owner: FunctionValue, name: str) -> Value:
        if name in owner.attributes:
            return owner.attributes[name]
        if name in ("__name__", "__qualname__"):
            return owner.wrapped if isinstance(owner.wrapped, Opaque) else owner.name
        raise NoResult

    def _of_class(self, cls: ClassValue, owner: Value, name: str, behind: Scope | None = None) -> Value:
        """An attribute of a class, or of the first of its bases that has it. behind: the class before the first."""
        if name in ("__name__", "__qualname__") and owner is cls:
            return cls.name
        waiting, seen = [cls], set[ClassValue]()
        while waiting:
            home = waiting.pop()
            if behind is None and name in home.scope.names:
                value = self.known(home.scope, name)
                if isinstance(value, FunctionValue):
                    return self._method(value, cls, owner)
                is_enum = any("Enum" in source_text(base) for base in home.node.bases)
                return InstanceValue(None, {"name": name, "value": value}) if is_enum else value
            behind = None if behind is home.scope else behind
            if home not in seen:
                seen.add(home)
                bases = [self.value(base, home.scope.parent or home.scope) for base in home.node.bases]
                waiting += [base for base in reversed(bases) if isinstance(base, ClassValue)]
        raise NoResult

    def _method(self, function: FunctionValue, cls: ClassValue, owner: Value) -> Value:
        if function.kind == "staticmethod" or (function.kind != "classmethod" and owner is cls):
            return function
        binds = cls if function.kind == "classmethod" else owner
        bound = replace(function, binds=binds, bound=True, attributes={})
        if function.kind != "property":
            return bound
        value = self.run_function(bound, Call([], {}, function.node, function.scope))
        if isinstance(value, Opaque) and value.node is function.node:
            raise NoResult
        return value

    # calls

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call; what the project's functions register on the way is found."""
        function = self.value(node.func, scope)
        given, complete = self._elements(node.args, scope)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                self.run.spend(len(value) // 4)
                keywords.update(value)
            else:
                complete = False
        call = Call(given, keywords, node, scope)
        if not complete and any(map(names.may_register, (function, *given))):
            return self.run.not_known(call, "its arguments are not written out")
        return self.run.each(function, lambda option: self.apply(option, call))

    def apply(self, function: Value, call: Call) -> Value:
        """Call a value."""
        if not isinstance(function, Opaque):
            self.run.seen_calls.add(id(call.node))
        try:
            match function:
                case FunctionValue():
                    return self._followed(function, call)
                case ClassValue():
                    return self._instance(function, call)
                case InstanceValue(ClassValue() as cls):
                    method = self._of_class(cls, function, "__call__")
                    if isinstance(method, FunctionValue):
                        return self._followed(method, call)
                case Prepared(prepared, arguments, keywords):
                    return self.apply(prepared, call.of(*arguments, *call.given, **{**keywords, **call.keywords}))
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
            return self.run.each(function, lambda option: self.decorate(option, value, node, scope))
        maker = self.value(node.func, scope) if isinstance(node, ast.Call) else function
        if isinstance(value, FunctionValue) and isinstance(maker, Dotted) and maker.name in _CACHES:
            value.results = {}
        if isinstance(value, FunctionValue) and not isinstance(
            function, FunctionValue | ClassValue | InstanceValue | Prepared | Bound
        ):
            value.may_be_replaced = True
        result = self.apply(function, Call([value], {}, node, scope))
        return value if isinstance(result, Opaque) else result

    def _followed(self, function: FunctionValue, call: Call) -> Value:
        results = function.results
        if results is not None and not all(map(constant, (function.binds, *call.given, *call.keywords.values()))):
            results = None
        key = () if results is None else (*call.given, *sorted(call.keywords.items()))
        if results and key in results and all(condition in self.run.now.when for condition in results[key][0]):
            return results[key][1]
        is_inner = function.scope.parent is not None and not function.scope.is_class
        of_object = isinstance(function.binds, InstanceValue)
        decides = bool(call.given or call.keywords) or is_inner or of_object
        self.run.now.calls.append((call.file, call.node, decides))
        try:
            result = self.run_function(function, call)
        finally:
            self.run.now.calls.pop()
        if results is not None:
            results[key] = tuple(self.run.now.when), result
        return result

    def run_function(self, function: FunctionValue, call: Call) -> Value:
        """Go through the body of a function."""
        code = function.node
        self.run.entered.add(id(code))
        if self.run.now.active.count(id(code)) > 2 or not (isinstance(code, ast.Lambda) or self._worthwhile(code)):
            return Opaque(call.node)
        inner = Scope(function.scope.file, function.scope, code=code)
        self._bind(function, call, inner)
        if isinstance(code, ast.Lambda):
            return self.value(code.body, inner)
        count = len(self.run.now.active)
        self.run.now.active.append(id(code))
        size = len(self.run.now.when)
        try:
            self.block(code.body, inner)
        finally:
            del self.run.now.active[count:]
        returns = inner.returns
        if inner.yielded:
            return self._yielded(inner, size)
        if len(returns) < 2:
            return returns[0].value if returns else None
        if all(type(option.value) is Opaque for option in returns):
            return Opaque(call.node)  # what decides between values that are not known says nothing
        return merged(exclusive([ValueOption(option.when[size:], option.value) for option in returns]))

    def _worthwhile(self, code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """True if a function may register something, or is small enough to be followed for what it returns."""
        if names.may_register_in(code, self.run.helpers):
            return True
        self.run.now.value_calls += 1
        is_small = names.function_facts(code).size <= MAX_SIZE and len(self.run.now.active) <= 8
        return is_small and self.run.now.value_calls <= MAX_VALUE_CALLS

    def _bind(self, function: FunctionValue, call: Call, scope: Scope) -> None:
        """Bind the parameters of a function."""
        arguments, left = function.node.args, dict(call.keywords)
        for value in (*call.given, *left.values()):
            self.note_dependence(value, call.scope)
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
        """A new object; of a class without ``__init__``, such as a dataclass, only without arguments."""
        instance = InstanceValue(cls)
        start: Value = None
        with suppress(NoResult):
            start = self._of_class(cls, instance, "__init__")
        if isinstance(start, FunctionValue):
            self._followed(start, call)
        elif call.given or call.keywords:
            raise NoResult
        return instance

    def _bound(self, bound: Bound, call: Call) -> Value:
        given = call.given
        if not isinstance(bound.owner, str | list | dict | tuple):
            return self.torch.method(bound, call)
        if isinstance(bound.owner, list) and bound.name in ("append", "insert"):
            given = [*given[:-1], self.run.here(given[-1])] if given else given
        if bound.name == "join" and given and isinstance(given[0], list):
            given = [[self.run.holding(part) for part in given[0]]]
        return self._operations.method(bound.owner, bound.name, given, call.keywords)

    # functions that are not the project's

    def _function(self, name: str, call: Call) -> Value:
        """Call a function by its full name."""
        given, node = call.given, call.node
        first = given[0] if given else None
        own = name.removeprefix("builtins.") if name.startswith("builtins.") else ""
        if own or name in VERSION_CLASSES:
            places = [place for place, part in enumerate(given) if isinstance(part, ByVersion | Alternatives)]
            if len(places) == 1:
                (place,) = places
                return self.run.each(given[place], lambda v: self._function(name, call.with_argument(place, v)), node)
        if own:
            return self._builtin(own, call)
        if name in VERSION_CLASSES and isinstance(first, str):
            return Version(first)
        match name, given:
            case (("importlib.metadata.version" | "importlib_metadata.version"), ["torch"]):
                return self.attribute(Dotted("torch"), "__version__", call.scope)
            case "importlib.import_module", [str() as module, *_] if module and module[0] != ".":
                return self.imported(module, call.scope)
            case "functools.partial", [function, *arguments]:
                return Prepared(function, tuple(arguments), call.keywords)
            case (("functools.wraps" | "functools.update_wrapper"), [function, *_]):
                return Prepared(Dotted("functools.wrapped"), (function,))
            case "functools.wrapped", [function, wrapper]:
                if isinstance(wrapper, FunctionValue):
                    wrapper.wrapped = function if isinstance(function, FunctionValue) else Opaque(node)
                return wrapper
            case "inspect.signature", [FunctionValue() as function]:
                return signature_of(function, self.value)
        if name.startswith("torch._C._dispatch_has_kernel") and given and all(isinstance(part, str) for part in given):
            return self.run.question(f"{name}({', '.join(map(repr, given))})", given[0], call.file)
        if name == names.FIND_SCHEMA and isinstance(first, str):
            namespace, _, operator = first.partition("::")
            return self._has_operator(namespace, operator, call)
        if name.startswith("torch.ops.") and name.endswith(".py_kernels.pop") and given:
            popped = names.operator_of(Dotted(name.removesuffix(".py_kernels.pop")), node)
            self.run.removed_python_kernels.add((popped, names.key_of(first)))
            raise NoResult
        return self.torch.call(name, call)

    def _has_operator(self, namespace: str, name: str, call: Call) -> Value:
        """``hasattr(torch.ops.my, "op")``: whether the operator is defined when this is asked."""
        operator = f"{namespace}::{name}"
        if self.run.is_defined(operator):
            return True
        return self.run.question(question_text(namespace, name), operator, call.file)

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
                return names.is_instance(value, kinds)
            case "super", [] if call.scope.parent is not None and call.scope.names:
                return SuperValue(next(iter(call.scope.names.values())), call.scope.parent)  # of the first parameter
            case "super", [ClassValue(scope=home), owner]:
                return SuperValue(owner, home)
            case "callable", [FunctionValue() | ClassValue() | Prepared()]:
                return True
            case "callable", [None | str()]:
                return False
            case "exec", [str() as text] if any(sign in text for sign in ("torch.library", ".define(", ".impl(")):
                return self.run.not_known(call, "a text that `exec` runs is not read")
            case "map", [function, row] if (items := self.run.items(row)) is not None:
                return Items(self.apply(function, call.of(item)) for item in items)
            case _:
                return self._operations.function(name, call.given, call.keywords)
        raise NoResult

    def _getattr(self, owner: Value, name: Value, default: list[Value], call: Call) -> Value:
        """``getattr(owner, name)``, or with a default."""
        if not isinstance(name, str):
            raise NoResult
        if default:
            if isinstance(owner, FunctionValue) and not name.startswith("__") and name not in owner.attributes:
                return default[0]
            if isinstance(owner, Dotted) and _is_operator_namespace(owner.name):
                is_there = self._has_operator(owner.name.rpartition(".")[2], name, call)
                test = self.truth_of(is_there, call.node, call.scope)
                operator = self.attribute(owner, name, call.scope)
                return operator if isinstance(test, bool) else conditional([test], operator, default[0])
        return self.attribute(owner, name, call.scope)


_CACHES = frozenset({"functools.cache", "functools.lru_cache"})
"""Decorators of a function that runs once for the same arguments."""


def _is_operator_namespace(name: str) -> bool:
    """True for ``torch.ops.my``."""
    return name.startswith("torch.ops.") and name.count(".") == 2
