"""Goes through the statements of a module, class or function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dispatch_cli.extract.python.calls import CallFollower
from dispatch_cli.extract.python.expressions import conditional, merged
from dispatch_cli.extract.python.methods import items_of
from dispatch_cli.extract.python.run import TooManySteps
from dispatch_cli.extract.python.values import (
    Alternatives,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    Opaque,
    Scope,
    Value,
    ValueOption,
    source_text,
)
from dispatch_cli.model.condition import Atom, Condition, Not, Or, negated

MAX_LOOP = 20_000
_IMPORT_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))
_CERTAIN = frozenset(("torch", "numpy", "typing_extensions", "packaging", *sys.stdlib_module_names))
"""Packages whose import is assumed to succeed."""
_UNSET: Any = object()


@dataclass
class Flow:
    """How a block ends. ends: the rest of the enclosing block is not reached. after: the conditions of the rest.

    returned: what a function returns, under which conditions. leaves: ``return``, ``break``, ``continue``, ``raise``.
    """

    ends: bool = False
    after: list[Condition] = field(default_factory=list)
    leaves: str = ""


class Statements(CallFollower):
    """Goes through statements."""

    def block(self, body: Sequence[ast.stmt], scope: Scope, returns: list[ValueOption]) -> Flow:
        """Go through statements in order, under the conditions under which they are reached."""
        flow = Flow()
        size = len(self.run.when)
        base = len(self.run.when)
        for statement in body:
            self.run.step()
            self._depth += 1
            try:
                if self._depth > 100:
                    break
                one = self.statement(statement, scope, returns)
            finally:
                self._depth -= 1
            if one.ends:
                flow.ends, flow.leaves = True, one.leaves
                break
            for condition in one.after:
                if negated(condition) in self.run.when:
                    flow.ends, flow.leaves = True, one.leaves
                elif condition not in self.run.when:
                    self.run.when.append(condition)
                    flow.after.append(condition)
            flow.leaves = one.leaves or flow.leaves
            if flow.ends:
                break
        del self.run.when[size:]
        assert base == size
        return flow

    def statement(self, node: ast.stmt, scope: Scope, returns: list[ValueOption]) -> Flow:
        """Go through one statement."""
        match node:
            case ast.Expr():
                self.value(node.value, scope)
            case ast.Assign():
                found = self.value(node.value, scope)
                for target in node.targets:
                    self.assign(target, found, scope)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.value(node.value, scope), scope)
            case ast.AugAssign():
                self._augment(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node, scope)
            case ast.ClassDef():
                self._define_class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self.import_names(node, scope)
            case ast.If():
                return self._if(node, scope, returns)
            case ast.For() | ast.AsyncFor():
                return self._for(node, scope, returns)
            case ast.While():
                return self._while(node, scope, returns)
            case ast.With() | ast.AsyncWith():
                return self._with(node, scope, returns)
            case ast.Try():
                return self._try(node, scope, returns)
            case ast.Return():
                found = None if node.value is None else self.value(node.value, scope)
                returns.append(ValueOption(tuple(self.run.when), found))
                return Flow(True, leaves="return")
            case ast.Raise():
                return Flow(True, leaves="raise")
            case ast.Break():
                return Flow(True, leaves="break")
            case ast.Continue():
                return Flow(True, leaves="continue")
            case ast.Global() | ast.Nonlocal():
                scope.globals.update(node.names)
            case ast.Match():
                return self._match(node, scope, returns)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        scope.names.pop(target.id, None)
            case _ if type(node).__name__ == "TryStar":
                return self._try(node, scope, returns)  # type: ignore[arg-type]
        return Flow()

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
                owner = self.value(target.value, scope)
                if isinstance(owner, InstanceValue):
                    owner.attributes[target.attr] = value
                elif isinstance(owner, ClassValue):
                    owner.scope.names[target.attr] = value
            case ast.Subscript():
                owner, key = self.value(target.value, scope), self.value(target.slice, scope)
                if isinstance(owner, dict | list):
                    try:
                        owner[key] = self.here(value)
                    except (TypeError, LookupError):
                        return

    def _home(self, name: str, scope: Scope) -> Scope:
        if name not in scope.globals:
            return scope
        outer = scope.parent
        while outer is not None and name not in outer.names:
            outer = outer.parent
        return outer or self.module_scope(scope)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, scope: Scope) -> None:
        if isinstance(value, Alternatives):
            for place, one in enumerate(target.elts):
                self.assign(
                    one,
                    self.each(
                        value,
                        lambda v, p=place: (
                            found[p]  # type: ignore[misc]
                            if (found := items_of(v)) is not None and len(found) == len(target.elts)
                            else Opaque(target)
                        ),
                    ),
                    scope,
                )
            return
        items = items_of(value)
        starred = [place for place, one in enumerate(target.elts) if isinstance(one, ast.Starred)]
        if items is not None and len(starred) == 1 and len(items) >= len(target.elts) - 1:
            after = len(target.elts) - starred[0] - 1
            items = [
                *items[: starred[0]],
                items[starred[0] : len(items) - after],
                *items[len(items) - after :],
            ]
        known = items is not None and len(items) == len(target.elts)
        for place, one in enumerate(target.elts):
            self.assign(one, items[place] if known and items is not None else Opaque(one), scope)

    def _augment(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        before = self.value(_loaded(node.target), scope)
        more = self.value(node.value, scope)
        if isinstance(node.op, ast.Add) and isinstance(before, list) and (items := items_of(more)) is not None:
            before.extend(self.here(one) for one in items)
            return
        if isinstance(node.op, ast.BitOr) and isinstance(before, dict) and isinstance(more, dict):
            before.update(more)
            return
        self.assign(node.target, self.value(load, scope), scope)

    def here(self, value: Value) -> Value:
        """The value as it is put into a list: under the conditions of the statement."""
        return Alternatives((ValueOption(tuple(self.run.when), value),)) if self.run.when else value

    # definitions

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        value: Value = FunctionValue(
            node,
            scope,
            defaults=tuple(self.value(one, scope) for one in node.args.defaults),
            keyword_defaults={
                argument.arg: self.value(default, scope)
                for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if default is not None
            },
        )
        self.functions.append(value)
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
            function = self.value(decorator, scope)
            value = self.decorate(function, value, decorator, scope)
        return value

    def _define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = tuple(self.value(one, scope) for one in node.bases)
        inner = Scope(scope.file, scope, is_class=True)
        self.block(node.body, inner, [])
        found = self._decorated(node, ClassValue(node, inner, bases), scope)
        self._home(node.name, scope).names[node.name] = found

    # branches

    def _branches(
        self, branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]], scope: Scope, returns: list[ValueOption]
    ) -> Flow:
        """Go through statements that exclude each other, each under its conditions, and join the names."""
        before = dict(scope.names)
        results: list[tuple[tuple[Condition, ...], dict[str, Value], Flow]] = []
        for when, body in branches:
            scope.names = dict(before)
            with self.run.under(when) as possible:
                if not possible:
                    self.dead(body, scope.file)
                    continue
                flow = self.block(body, scope, returns)
            results.append(((*when, *flow.after), scope.names, flow))
        going = [(when, names) for when, names, flow in results if not flow.ends]
        scope.names = _joined_names(before, going)
        result = Flow(leaves=next((flow.leaves for *_, flow in results if flow.leaves), ""))
        if not going:
            result.ends = bool(results)
        elif len(going) < len(results) or any(flow.after for *_, flow in results):
            kinds = {flow.leaves for *_, flow in results if flow.ends or flow.after}
            if kinds != {"raise"}:  # what raises is assumed not to
                result.after = _any_of([when for when, _ in going])
        return result

    def _if(self, node: ast.If, scope: Scope, returns: list[ValueOption]) -> Flow:
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            taken, other = (node.body, node.orelse) if test else (node.orelse, node.body)
            self.dead(other, scope.file)
            return self.block(taken, scope, returns)
        return self._branches([((test,), node.body), ((negated(test),), node.orelse)], scope, returns)

    def _match(self, node: ast.Match, scope: Scope, returns: list[ValueOption]) -> Flow:
        subject = source_text(node.subject)
        branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]] = []
        earlier: list[Condition] = []
        for case in node.cases:
            atom = Atom(f"{subject} matches {source_text(case.pattern)}")
            last = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            branches.append(((*earlier,) if last else (*earlier, atom), case.body))
            earlier.append(Not(atom))
        return self._branches(branches, scope, returns)

    def _try(self, node: ast.Try, scope: Scope, returns: list[ValueOption]) -> Flow:
        catching = [one for one in node.handlers if _catches_imports(one)]
        flow = Flow()
        before = dict(scope.names)
        failing: list[Condition] = []
        size = len(self.run.when)
        rest: Sequence[ast.stmt] = node.body
        for place, statement in enumerate(node.body):
            self.run.step()
            if catching and (atom := self.uncertain_import(statement, scope)) is not None:
                if negated(atom) in self.run.when:
                    failing = [atom]
                    self.dead(node.body[place:], scope.file)
                    break
                if atom not in self.run.when:
                    failing.append(atom)
                    self.run.when.append(atom)
            flow = self.block([statement], scope, returns)
            rest = node.body[place + 1 :]
            if flow.ends:
                break
            self.run.when += [one for one in flow.after if one not in self.run.when]
        if not flow.ends and not rest:
            flow = self.block(node.orelse, scope, returns)
        del self.run.when[size:]
        if catching and flow.ends and flow.leaves == "raise":
            failing = [Atom(f"no error at line {node.lineno}")]
        flow = self._handlers(node, catching, failing, before, flow, scope, returns)
        if node.finalbody:
            last = self.block(node.finalbody, scope, returns)
            flow.ends = flow.ends or last.ends
        return flow

    def _handlers(
        self,
        node: ast.Try,
        catching: list[ast.ExceptHandler],
        failing: list[Condition],
        before: dict[str, Value],
        flow: Flow,
        scope: Scope,
        returns: list[ValueOption],
    ) -> Flow:
        after = scope.names
        failed = _any_of([(negated(one),) for one in failing])
        results = [(tuple(failing), after)] if not flow.ends else []
        raising = False
        for handler in node.handlers:
            scope.names = dict(before)
            if handler.name:
                scope.names[handler.name] = Opaque(handler)
            main = handler in catching and failing and handler is catching[0]
            when = failed if main else [Atom(f"{_handler_text(handler)} is raised at line {node.lineno}")]
            with self.run.under(when) as possible:
                if not possible:
                    self.dead(handler.body, scope.file)
                    continue
                one = self.block(handler.body, scope, returns)
            if main and not one.ends:
                results.append((tuple(failed), scope.names))
            raising = raising or bool(main and one.leaves == "raise" and one.ends)
        if not failing:
            scope.names = after
            return flow
        scope.names = _joined_names(before, results)
        if flow.ends:
            return Flow(ends=not results, after=list(failed) if results and not raising else [], leaves=flow.leaves)
        return Flow()

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope, returns: list[ValueOption]) -> Flow:
        for item in node.items:
            found = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                known = isinstance(found, LibraryValue | InstanceValue)
                self.assign(item.optional_vars, found if known else Opaque(item.context_expr), scope)
        return self.block(node.body, scope, returns)

    # loops

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope, returns: list[ValueOption]) -> Flow:
        found = self.value(node.iter, scope)
        if isinstance(found, Alternatives):
            for option in found.options:
                with self.run.under(option.when) as possible:
                    if possible:
                        self._loop(node, option.value, scope, returns)
            return Flow()
        return self._loop(node, found, scope, returns)

    def _loop(self, node: ast.For | ast.AsyncFor, found: Value, scope: Scope, returns: list[ValueOption]) -> Flow:
        items = items_of(found)
        if items is None:
            self.assign(node.target, Opaque(node.target), scope)
            with self.unknown_times(f"it is in a loop over `{source_text(node.iter)}`, which the source does not say"):
                self.block(node.body, scope, returns)
            return Flow()
        size = len(self.run.when)
        result = Flow()
        for item in items[:MAX_LOOP]:
            options = item.options if isinstance(item, Alternatives) else (ValueOption((), item),)
            for option in options:
                with self.run.under(option.when) as possible:
                    if not possible:
                        continue
                    self.assign(node.target, option.value, scope)
                    flow = self.block(node.body, scope, returns)
            if flow.ends and flow.leaves != "continue":
                result = Flow(flow.leaves == "return", leaves=flow.leaves if flow.leaves == "return" else "")
                break
            if flow.after and flow.leaves != "continue":
                self.run.when += [one for one in flow.after if one not in self.run.when]
        else:
            del self.run.when[size:]
            return self.block(node.orelse, scope, returns) if node.orelse else Flow()
        del self.run.when[size:]
        return result

    def _while(self, node: ast.While, scope: Scope, returns: list[ValueOption]) -> Flow:
        for _ in range(MAX_LOOP):
            test = self.truth(node.test, scope)
            if test is False:
                return Flow()
            if test is not True:
                break
            flow = self.block(node.body, scope, returns)
            if flow.ends and flow.leaves != "continue":
                return Flow(flow.leaves == "return", leaves="return" if flow.leaves == "return" else "")
        with self.unknown_times(f"it is in a loop while `{source_text(node.test)}`"):
            self.block(node.body, scope, returns)
        return Flow()

    @contextmanager
    def unknown_times(self, why: str) -> Any:
        """What is registered is done an unknown number of times."""
        before, self.run.uncertain = self.run.uncertain, self.run.uncertain or why
        try:
            yield
        finally:
            self.run.uncertain = before

    def uncertain_import(self, node: ast.stmt, scope: Scope) -> Condition | None:
        """The condition that an import succeeds; None where it is assumed, or where it is no import."""
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
            unsure = [one for one in names if not self.importable(one, scope)]
            return Atom(f"import {unsure[0]}") if unsure else None
        if isinstance(node, ast.ImportFrom):
            return self.import_condition(node, scope)
        return None

    @staticmethod
    def certain(name: str) -> bool:
        """Whether a package that is not of the project is assumed to be there."""
        return name.partition(".")[0] in _CERTAIN


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        case ast.Attribute():
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target


def _any_of(ways: list[tuple[Condition, ...]]) -> list[Condition]:
    """The conditions under which one of the ways is gone."""
    if len(ways) == 1:
        return list(ways[0])
    singles: list[Condition] = []
    for way in ways:
        if len(way) != 1:
            return []
        if negated(way[0]) in singles:
            return []
        singles.append(way[0])
    return [Or(tuple(singles))] if singles else []


def _joined_names(
    before: dict[str, Value], results: list[tuple[tuple[Condition, ...], dict[str, Value]]]
) -> dict[str, Value]:
    """The names after branches: where they differ, each value under its conditions."""
    if not results:
        return before
    if len(results) == 1:
        return results[0][1]
    names = dict.fromkeys(name for _, found in results for name in found)
    joined: dict[str, Value] = {}
    for name in names:
        values = [(when, found.get(name, _UNSET)) for when, found in results]
        present = [ValueOption(when, value) for when, value in values if value is not _UNSET]
        first = present[0].value
        same = len(present) == len(values) and all(one.value is first for one in present)
        joined[name] = first if same else merged(present)
    return joined


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(one, ast.Name) and one.id in _IMPORT_ERRORS for one in types)


def _handler_text(handler: ast.ExceptHandler) -> str:
    return "an exception" if handler.type is None else source_text(handler.type)


__all__ = ["Dotted", "Statements", "TooManySteps", "conditional"]
