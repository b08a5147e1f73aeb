"""Goes through the statements of a module, class or function, and what is done under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard

from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.values import (
    PARTS,
    Alternatives,
    Call,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    Opaque,
    Scope,
    Value,
    ValueOption,
    conditional,
    default_nodes,
    joined,
    merged,
    source_text,
)
from dispatch_cli.extract.python.names import FIND_SCHEMA, bound_names, may_register_in
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import Atom, Condition, negated
from dispatch_cli.model.sources.source_conditions import raised_text

_TEST_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "RuntimeError", "Exception", "BaseException"))
_LOOKUP_ERRORS = frozenset(("RuntimeError", "TypeError", "Exception", "BaseException"))
_SUPPRESS = Dotted("contextlib.suppress")
_ASSERT_RAISES = ("pytest.raises", ".assertRaises", ".assertRaisesRegex")
_UNSET: Any = object()


MAX_NUMBERS = 1_000
"""Numbers that a loop goes through one by one where it registers nothing, such as the steps of a training."""
MAX_NESTED = 100
"""Depth to which statements and the calls in them nest together."""


@dataclass
class Flow:
    """End of a block. ends: the rest of the enclosing block is not reached. after: the conditions of the rest.

    leaves: those of ``return``, ``break``, ``continue`` and ``raise`` that may end it before its last statement.
    """

    ends: bool = False
    after: list[Condition] = field(default_factory=list)
    leaves: frozenset[str] = frozenset()


_Way = tuple[tuple[Condition, ...], dict[str, Value]]
"""The conditions under which statements come to an end, and the names there."""


class Statements:
    """Goes through statements. _exits: of the loop that is being read, the ways to each ``break`` and ``continue``."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._run = evaluator.run
        self._exits: dict[str, list[_Way]] = {"break": [], "continue": []}
        evaluator.block, evaluator.assign = self.block, self.assign

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> Flow:
        """Go through statements in order, under the conditions under which they are reached."""
        flow = Flow()
        size = len(self._run.now.when)
        for place, statement in enumerate(body):
            self._run.now.depth += 1
            try:
                self._run.spend()
                if self._run.now.depth > MAX_NESTED:
                    why = f"statements and the calls in them nest more than {MAX_NESTED} deep"
                    if may_register_in(ast.Module([*body[place:]], []), self._run.helpers):
                        self._run.bounded(OverWork(why), scope.file, statement)
                    break
                inner = self._statement(statement, scope)
            except OverWork as error:
                error.at = error.at or self._run.span(*self._run.place(scope.file, statement))
                raise
            finally:
                self._run.now.depth -= 1
            flow.leaves |= inner.leaves
            if inner.ends:
                flow.ends = True
                self._run.dead(body[place + 1 :])
                break
            if inner.after:
                self._run.spend(len(inner.after) * (1 + len(self._run.now.when) // 2))
            for condition in inner.after:
                if negated(condition) in self._run.now.when:
                    flow.ends = True
                elif condition not in self._run.now.when:
                    self._run.now.when.append(condition)
                    flow.after.append(condition)
            if flow.ends:
                break
        del self._run.now.when[size:]
        return flow

    def _statement(self, node: ast.stmt, scope: Scope) -> Flow:
        """Go through one statement."""
        match node:
            case ast.Expr():
                self._evaluator.value(node.value, scope)
            case ast.Assign():
                value = self._evaluator.value(node.value, scope)
                for target in node.targets:
                    self.assign(target, value, scope)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self._evaluator.value(node.value, scope), scope)
            case ast.AugAssign():
                load = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                self.assign(node.target, self._evaluator.value(load, scope), scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node, scope)
            case ast.ClassDef():
                self._define_class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._evaluator.import_names(node, scope)
            case ast.If():
                return self._if(node, scope)
            case ast.For() | ast.AsyncFor():
                return self._for(node, scope)
            case ast.While():
                return self._unknown_times(node.body, scope, f"it is in a loop while `{self._run.text(node.test)}`")
            case ast.With() | ast.AsyncWith():
                return self._with(node, scope)
            case ast.Try():
                return self._try(node, scope)
            case ast.Match():
                return self._match(node, scope)
            case ast.Return():
                value = None if node.value is None else self._evaluator.value(node.value, scope)
                self._run.spend(len(self._run.now.when) // PARTS)
                scope.returns.append(ValueOption(tuple(self._run.now.when), value))
                return Flow(True, leaves=frozenset({"return"}))
            case ast.Raise():
                return Flow(True, leaves=frozenset({"raise"}))
            case ast.Break() | ast.Continue():
                kind = "break" if isinstance(node, ast.Break) else "continue"
                self._run.spend(len(self._run.now.when) // PARTS)
                self._exits[kind].append((tuple(self._run.now.when), scope.names))
                return Flow(True, leaves=frozenset({kind}))
            case ast.Global() | ast.Nonlocal():
                scope.globals.update(node.names)
            case ast.Delete():
                for target in node.targets:
                    self._remove(target, scope)
        return Flow()

    # names

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a name, the parts of a tuple, an attribute or an item."""
        match target:
            case ast.Name():
                self._evaluator.note_dependence(value, scope)
                self._home(target.id, scope).names[target.id] = value
            case ast.Tuple() | ast.List():
                for place, element in enumerate(target.elts):
                    self.assign(element, self._run.each(value, partial(self._part, target, place)), scope)
            case ast.Starred():
                self.assign(target.value, value, scope)
            case ast.Attribute():
                owner = self._evaluator.value(target.value, scope)
                if isinstance(owner, FunctionValue):
                    before = owner.attributes.get(target.attr, Opaque(target))
                    owner.attributes[target.attr] = conditional(self._run.now.when, value, before)
                elif isinstance(owner, InstanceValue):
                    owner.attributes[target.attr] = value
                elif isinstance(owner, ClassValue):
                    owner.scope.names[target.attr] = value
                elif isinstance(owner, ModuleValue):
                    there = self._evaluator.module(owner.file).names
                    there[target.attr] = conditional(self._run.now.when, value, there.get(target.attr, Opaque(target)))
            case ast.Subscript():
                owner, key = self._evaluator.value(target.value, scope), self._evaluator.value(target.slice, scope)
                if isinstance(owner, dict | list) and self._run.affords(key):
                    with suppress(TypeError, LookupError):
                        owner[key] = self._run.here(value)

    def _remove(self, target: ast.expr, scope: Scope) -> None:
        """Remove a name, an attribute or an item."""
        removed = self._evaluator.value(target, scope)
        if isinstance(target, ast.Name):
            self._home(target.id, scope).names.pop(target.id, None)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            whole = target if isinstance(target, ast.Attribute) else target.value
            self.assign(whole, Opaque(target), scope)
        if isinstance(removed, LibraryValue):
            self._run.not_known(Call([], {}, target, scope), "it may remove what the library has registered")

    def _home(self, name: str, scope: Scope) -> Scope:
        if name not in scope.globals:
            return scope
        outer = scope.parent
        while outer is not None and name not in outer.names:
            outer = outer.parent
        return outer or scope.module

    def _part(self, target: ast.Tuple | ast.List, place: int, value: Value) -> Value:
        """One of the items of a value that is unpacked."""
        items = self._run.items(value)
        return items[place] if items is not None and len(items) == len(target.elts) else Opaque(target.elts[place])

    # definitions

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        defaults = {name: self._evaluator.value(part, scope) for name, part in default_nodes(node.args).items()}
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
            function = self._evaluator.value(decorator, scope)
            value = self._evaluator.decorate(function, value, decorator, scope)
        return value

    def _define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = Scope(scope.file, scope, is_class=True)
        self.block(node.body, inner)
        value = self._decorated(node, ClassValue(node, inner), scope)
        self._home(node.name, scope).names[node.name] = value

    # loops

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> Flow:
        iterated = self._evaluator.value(node.iter, scope)
        items = self._run.items(iterated)
        is_long = isinstance(iterated, range) and len(iterated) > MAX_NUMBERS
        if items is None or (is_long and not may_register_in(node, self._run.helpers)):
            self.assign(node.target, Opaque(node.target), scope)
            why = f"it is in a loop over `{self._run.text(node.iter)}`, which the source does not say"
            return self._unknown_times(node.body, scope, why)
        return self._loop(node, items, scope)

    def _loop(self, node: ast.For | ast.AsyncFor, items: list[Value], scope: Scope) -> Flow:
        """Go through the body with each item, and through ``else``, and join the ways by which the loop ends."""
        outer, self._exits = self._exits, {"break": [], "continue": []}
        size = len(self._run.now.when)
        turn, leaves = Flow(), frozenset[str]()
        for item in items:
            turn = self._turn(node, item, scope)
            leaves |= turn.leaves
            if turn.ends:
                break
            self._run.now.when += [condition for condition in turn.after if condition not in self._run.now.when]
        ways, self._exits = self._exits["break"], outer
        leaves -= {"break"}
        if not turn.ends:
            last = self.block(node.orelse, scope)
            leaves |= last.leaves
            if not last.ends:
                ways.append(((*self._run.now.when, *last.after), scope.names))
        del self._run.now.when[size:]
        return self._joined([(when[size:], names) for when, names in ways], leaves, scope)

    def _turn(self, node: ast.For | ast.AsyncFor, item: Value, scope: Scope) -> Flow:
        """Go through the body of a loop with one item, and join the ways to the next."""
        size = len(self._run.now.when)
        self._exits["continue"] = []
        if isinstance(item, Alternatives):
            branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]] = []
            for when, value in item.options:
                bound = ast.copy_location(ast.Assign([node.target], ast.Constant(value)), node)
                if not any(negated(condition) in self._run.now.when for condition in when):
                    branches.append((when, [bound, *node.body]))
            if len(branches) == 1:  # an item that only some builds have
                branches.append((tuple(_any_of([(negated(condition),) for condition in branches[0][0]])), []))
            flow = self._branches(branches, scope)
        else:
            self.assign(node.target, item, scope)
            flow = self.block(node.body, scope)
        ways = [(when[size:], names) for when, names in self._exits["continue"]]
        if not flow.ends:
            ways.append((tuple(flow.after), scope.names))
        return self._joined(ways, flow.leaves - {"continue"}, scope)

    def _joined(self, ways: list[_Way], leaves: frozenset[str], scope: Scope) -> Flow:
        """The flow after several ways: their names joined, and their conditions if others left the block."""
        if len(ways) > 1:
            self._run.spend(len(ways) * len(scope.names))
        scope.names = _joined_names(scope.names, ways)
        is_left = bool(leaves - {"raise"})  # what raises is assumed not to
        return Flow(not ways, _any_of([when for when, _ in ways]) if is_left else [], leaves)

    def _unknown_times(self, body: Sequence[ast.stmt], scope: Scope, why: str) -> Flow:
        """Take the registrations in a loop as done an unknown number of times; what it changes is not known."""
        before, self._run.now.uncertain = self._run.now.uncertain, self._run.now.uncertain or why
        exits, self._exits = self._exits, {"break": [], "continue": []}
        self._run.spend(len(scope.names))
        held = {name: (value, _size(value)) for name, value in scope.names.items()}
        try:
            self.block(body, scope)
        finally:
            self._run.now.uncertain = before
        for names in (scope.names, *(names for ways in self._exits.values() for _, names in ways)):
            for name, value in [*names.items()]:
                known, size = held.get(name, (_UNSET, 0))
                if value is not known or _size(value) != size:
                    scope.names[name] = Opaque(None, name)
        self._exits = exits
        return Flow()

    # branches

    def _branches(self, branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]], scope: Scope) -> Flow:
        """Go through statements that exclude each other, each under its conditions, and join the names."""
        before = dict(scope.names)
        self._run.spend(len(before) * len(branches))
        results: list[tuple[tuple[Condition, ...], dict[str, Value], Flow]] = []
        for when, body in branches:
            scope.names = dict(before)
            with self._run.under(when) as possible:
                if not possible:
                    self._run.dead(body)
                    continue
                flow = self.block(body, scope)
            results.append(((*when, *flow.after), scope.names, flow))
        scope.names = before
        if not results:
            return Flow()
        going = [(when, names) for when, names, flow in results if not flow.ends]
        return self._joined(going, frozenset().union(*(flow.leaves for *_, flow in results)), scope)

    def _if(self, node: ast.If, scope: Scope) -> Flow:
        test = self._evaluator.truth(node.test, scope)
        if isinstance(test, bool):
            taken, other = (node.body, node.orelse) if test else (node.orelse, node.body)
            self._run.dead(other)
            return self.block(taken, scope)
        return self._branches([((test,), node.body), ((negated(test),), node.orelse)], scope)

    def _try(self, node: ast.Try, scope: Scope) -> Flow:
        """Go through ``try``: a handler of a test that may fail is a branch, others are reached by an exception."""
        main = next((handler for handler in node.handlers if _catches(handler, _TEST_ERRORS)), None)
        tested = [part for part in node.body if main is not None and _is_test(part)]
        unsure = [atom for part in tested if (atom := self._evaluator.condition(part, scope)) is not None]
        settings = self._run.values(scope.file)
        failing = [atom for atom in dict.fromkeys(unsure) if str(atom) not in settings]
        body = [*node.body, *node.orelse]
        before = dict(scope.names)
        self._run.spend(len(before) * (1 + len(node.handlers)))
        if main is not None and not all(settings.get(str(atom), (True,))[0] for atom in unsure):
            self._run.dead(body)
            flow = self.block(main.body, scope)
        elif main is not None and failing:
            failed = _any_of([(negated(atom),) for atom in failing])
            flow = self._branches([(tuple(failing), body), (tuple(failed), main.body)], scope)
        else:
            main = None
            allowed = any(_catches(handler, _LOOKUP_ERRORS) for handler in node.handlers)
            self._run.now.refusals_allowed += allowed
            flow = self.block(body, scope)
            self._run.now.refusals_allowed -= allowed
        after = scope.names
        for handler in node.handlers:
            scope.names = dict(before)
            caught = "an exception" if handler.type is None else source_text(handler.type)
            with self._run.under([Atom(raised_text(caught, node.lineno))]):
                if handler is not main:
                    exits, self._exits = self._exits, {"break": [], "continue": []}
                    self.block(handler.body, scope)
                    self._exits = exits
        scope.names = after
        if node.finalbody:
            last = self.block(node.finalbody, scope)
            flow.ends, flow.leaves = flow.ends or last.ends, flow.leaves | last.leaves
        return flow

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> Flow:
        for item in node.items:
            value = self._evaluator.value(item.context_expr, scope)
            match item.context_expr:
                case ast.Call(function, types) if self._evaluator.value(function, scope) == _SUPPRESS or source_text(
                    function
                ).endswith(_ASSERT_RAISES):
                    types = [kind for kind in types if not isinstance(kind, ast.Constant)]
                    handler = ast.ExceptHandler(ast.Tuple(types, ast.Load()), None, [])
                    return self._try(ast.copy_location(ast.Try(node.body, [handler], [], []), node), scope)
            if item.optional_vars is not None:
                known = isinstance(value, LibraryValue | InstanceValue)
                self.assign(item.optional_vars, value if known else Opaque(item.context_expr), scope)
        return self.block(node.body, scope)

    def _match(self, node: ast.Match, scope: Scope) -> Flow:
        """Go through the cases as through ``if`` and ``elif``; names that patterns bind are not known."""
        for name in bound_names(ast.MatchOr([case.pattern for case in node.cases])):
            self.assign(ast.Name(name, ast.Store()), Opaque(node, name), scope)
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = _pattern_test(node.subject, case.pattern)
            test = test if case.guard is None else ast.BoolOp(ast.And(), [test, case.guard])
            chain = [ast.copy_location(ast.If(test, case.body, chain), case.pattern)]
        return self.block(chain, scope)


def _pattern_test(subject: ast.expr, pattern: ast.pattern) -> ast.expr:
    """The test that a pattern makes; a call of a function that nothing binds for those that are not known."""
    match pattern:
        case ast.MatchValue(value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(value)])
        case ast.MatchOr(patterns):
            return ast.BoolOp(ast.Or(), [_pattern_test(subject, part) for part in patterns])
        case ast.MatchAs(None):
            return ast.Constant(True)
    return ast.Call(ast.Name("match", ast.Load()), [subject, ast.Name(source_text(pattern), ast.Load())], [])


def _size(value: Value) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def _any_of(ways: list[tuple[Condition, ...]]) -> list[Condition]:
    """The conditions under which one of the ways is gone."""
    if len(ways) == 1:
        return list(ways[0])
    parts = [joined(way, True) for way in ways]
    whole = None if None in parts else joined([part for part in parts if part is not None], False)
    return [] if whole is None or isinstance(whole, bool) else [whole]


def _joined_names(before: dict[str, Value], results: list[_Way]) -> dict[str, Value]:
    """The names after branches: where they differ, each value under its conditions."""
    if not results:
        return before
    if len(results) == 1:
        return results[0][1]
    names = dict.fromkeys(name for _, bound in results for name in bound)
    whole: dict[str, Value] = {}
    for name in names:
        values = [(when, bound.get(name, _UNSET)) for when, bound in results]
        present = [ValueOption(when, value) for when, value in values if value is not _UNSET]
        first = present[0].value
        same = len(present) == len(values) and all(option.value is first for option in present)
        whole[name] = first if same else merged(present)
    return whole


def _is_test(node: ast.stmt) -> TypeGuard[ast.Import | ast.ImportFrom | ast.Expr]:
    """True for an import, and for a search for a schema, which fails where there is none."""
    is_search = isinstance(node, ast.Expr) and FIND_SCHEMA in source_text(node)
    return is_search or isinstance(node, ast.Import | ast.ImportFrom)


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(type_, ast.Name) and type_.id in errors for type_ in types)
