"""Goes through the statements of a module, class or function."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from dispatch_cli.extract.python.evaluation.binding import Bindings, Imports
from dispatch_cli.extract.python.evaluation.branches import Branches
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator, Flow
from dispatch_cli.extract.python.evaluation.values import (
    PARTS,
    Alternatives,
    Opaque,
    Scope,
    Value,
    ValueOption,
)
from dispatch_cli.extract.python.keys import CALLED
from dispatch_cli.extract.python.names import called_name, every_node
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import negated

MAX_LOOP = 20_000
"""Times that a loop is followed."""
MAX_NESTED = 100
"""Depth to which statements and the calls in them nest together."""


class Statements:
    """Goes through statements."""

    def __init__(self, reader: Evaluator, bindings: Bindings, imports: Imports) -> None:
        self._reader = reader
        self._run = reader.run
        self._bindings = bindings
        self._imports = imports
        self._branches = Branches(reader, imports)

    def block(self, body: Sequence[ast.stmt], scope: Scope, returns: list[ValueOption]) -> Flow:
        """Go through statements in order, under the conditions under which they are reached."""
        flow = Flow()
        size = len(self._run.when)
        for place, statement in enumerate(body):
            self._run.depth += 1
            try:
                self._run.spend()
                if self._run.depth > MAX_NESTED:
                    self._too_deep(body[place:], scope)
                    break
                inner = self.statement(statement, scope, returns)
            except OverWork as error:
                error.at = error.at or self._run.span(*self._run.place(scope.file, statement))
                raise
            finally:
                self._run.depth -= 1
            if inner.ends:
                flow.ends, flow.leaves = True, inner.leaves
                self._run.dead(body[place + 1 :], scope.file)
                break
            if inner.after:
                self._run.spend(len(inner.after) * (1 + len(self._run.when) // 2))
            for condition in inner.after:
                if negated(condition) in self._run.when:
                    flow.ends, flow.leaves = True, inner.leaves
                elif condition not in self._run.when:
                    self._run.when.append(condition)
                    flow.after.append(condition)
            flow.leaves = inner.leaves or flow.leaves
            if flow.ends:
                break
        del self._run.when[size:]
        return flow

    def _too_deep(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Say that statements are not looked at, if they register something."""
        for statement in body:
            calls = [called_name(node) for node in every_node(statement) if isinstance(node, ast.Call)]
            if any(name in CALLED or name in self._run.helpers for name in calls):
                why = f"statements and the calls in them nest more than {MAX_NESTED} deep"
                self._run.bounded(OverWork(why), scope.file, statement)

    def statement(self, node: ast.stmt, scope: Scope, returns: list[ValueOption]) -> Flow:
        """Go through one statement."""
        match node:
            case ast.Expr():
                self._reader.value(node.value, scope)
            case ast.Assign():
                value = self._reader.value(node.value, scope)
                for target in node.targets:
                    self._reader.assign(target, value, scope)
            case ast.AnnAssign():
                if node.value is not None:
                    self._reader.assign(node.target, self._reader.value(node.value, scope), scope)
            case ast.AugAssign():
                self._bindings.augment(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._bindings.define(node, scope)
            case ast.ClassDef():
                self._bindings.define_class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._imports.import_names(node, scope)
            case ast.If():
                return self._branches.if_(node, scope, returns)
            case ast.For() | ast.AsyncFor():
                return self._for(node, scope, returns)
            case ast.While():
                return self._while(node, scope, returns)
            case ast.With() | ast.AsyncWith():
                return self._branches.with_(node, scope, returns)
            case ast.Try():
                return self._branches.try_(node, scope, returns)
            case ast.Return():
                value = None if node.value is None else self._reader.value(node.value, scope)
                self._run.spend(len(self._run.when) // PARTS)
                returns.append(ValueOption(tuple(self._run.when), value))
                return Flow(True, leaves="return")
            case ast.Raise():
                return Flow(True, leaves="raise")
            case ast.Break():
                return Flow(True, leaves="break")
            case ast.Continue():
                return Flow(True, leaves="continue")
            case ast.Global() | ast.Nonlocal():
                scope.globals.update(node.names)
            case ast.Delete():
                for target in node.targets:
                    self._bindings.remove(target, scope)
            case _ if type(node).__name__ == "TryStar":
                return self._branches.try_(node, scope, returns)  # type: ignore[arg-type]
        return Flow()

    # loops

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope, returns: list[ValueOption]) -> Flow:
        value = self._reader.value(node.iter, scope)
        if isinstance(value, Alternatives):
            for option in value.options:
                with self._run.under(option.when) as possible:
                    if possible:
                        self._loop(node, option.value, scope, returns)
            return Flow()
        return self._loop(node, value, scope, returns)

    def _loop(self, node: ast.For | ast.AsyncFor, iterated: Value, scope: Scope, returns: list[ValueOption]) -> Flow:
        items = self._run.items(iterated)
        if items is None:
            self._reader.assign(node.target, Opaque(node.target), scope)
            why = f"it is in a loop over `{self._run.text(node.iter)}`, which the source does not say"
            with self.unknown_times(why):
                self.block(node.body, scope, returns)
            return Flow()
        size = len(self._run.when)
        result = Flow()
        excluded = bool(items) or isinstance(node.iter, ast.List | ast.Tuple)
        for item in items[:MAX_LOOP]:
            flow = Flow()
            for option in item.options if isinstance(item, Alternatives) else (ValueOption((), item),):
                with self._run.under(option.when) as possible:
                    if not possible:
                        continue
                    excluded = False
                    self._reader.assign(node.target, option.value, scope)
                    flow = self.block(node.body, scope, returns)
            if flow.ends and flow.leaves != "continue":
                result = Flow(flow.leaves == "return", leaves=flow.leaves if flow.leaves == "return" else "")
                break
            if flow.after and flow.leaves != "continue":
                self._run.when += [condition for condition in flow.after if condition not in self._run.when]
        else:
            del self._run.when[size:]
            if excluded:
                self._run.dead(node.body, scope.file)
            return self.block(node.orelse, scope, returns) if node.orelse else Flow()
        del self._run.when[size:]
        return result

    def _while(self, node: ast.While, scope: Scope, returns: list[ValueOption]) -> Flow:
        for _ in range(MAX_LOOP):
            test = self._reader.truth(node.test, scope)
            if test is False:
                self._run.dead(node.body, scope.file)
                return Flow()
            if test is not True:
                break
            flow = self.block(node.body, scope, returns)
            if flow.ends and flow.leaves != "continue":
                return Flow(flow.leaves == "return", leaves="return" if flow.leaves == "return" else "")
        with self.unknown_times(f"it is in a loop while `{self._run.text(node.test)}`"):
            self.block(node.body, scope, returns)
        return Flow()

    @contextmanager
    def unknown_times(self, why: str) -> Any:
        """Take the registrations inside as done an unknown number of times."""
        before, self._run.uncertain = self._run.uncertain, self._run.uncertain or why
        try:
            yield
        finally:
            self._run.uncertain = before
