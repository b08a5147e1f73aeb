"""``if``, ``match``, ``try`` and ``with``: what is done under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from dispatch_cli.extract.python.evaluator import Evaluator
from dispatch_cli.extract.python.flow import Flow
from dispatch_cli.extract.python.imports import Imports
from dispatch_cli.extract.python.interface import FIND_SCHEMA
from dispatch_cli.extract.python.options import merged
from dispatch_cli.extract.python.trees import always_raises, called_name
from dispatch_cli.extract.python.values import (
    InstanceValue,
    LibraryValue,
    Opaque,
    RegistrationQuestion,
    Scope,
    Value,
    ValueOption,
    source_text,
)
from dispatch_cli.model.condition import Atom, Condition, Or, negated

_IMPORT_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))
_LOOKUP_ERRORS = frozenset(("RuntimeError", "Exception", "BaseException"))
_UNSET: Any = object()


class Branches:
    """Goes through statements that are not always reached."""

    def __init__(self, reader: Evaluator, imports: Imports) -> None:
        self._reader = reader
        self._run = reader.run
        self._imports = imports

    # branches

    def _branches(
        self, branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]], scope: Scope, returns: list[ValueOption]
    ) -> Flow:
        """Go through statements that exclude each other, each under its conditions, and join the names."""
        before = dict(scope.names)
        self._run.spend(len(before) * len(branches))
        results: list[tuple[tuple[Condition, ...], dict[str, Value], Flow]] = []
        for when, body in branches:
            scope.names = dict(before)
            with self._run.under(when) as possible:
                if not possible:
                    self._run.dead(body, scope.file)
                    continue
                flow = self._reader.block(body, scope, returns)
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

    def if_(self, node: ast.If, scope: Scope, returns: list[ValueOption]) -> Flow:
        test = self._reader.truth(node.test, scope)
        if isinstance(test, bool):
            taken, other = (node.body, node.orelse) if test else (node.orelse, node.body)
            self._run.dead(other, scope.file)
            return self._reader.block(taken, scope, returns)
        if not self._run.trying:
            for refused, other in ((node.body, node.orelse), (node.orelse, node.body)):
                if always_raises(
                    refused, self._run.spend
                ):  # the other one is what happens wherever the module was imported
                    self._run.dead(refused, scope.file)
                    return self._reader.block(other, scope, returns)
        return self._branches([((test,), node.body), ((negated(test),), node.orelse)], scope, returns)

    def try_(self, node: ast.Try, scope: Scope, returns: list[ValueOption]) -> Flow:
        errors = _LOOKUP_ERRORS if any(map(_finds_schema, node.body)) else _IMPORT_ERRORS
        catching = [handler for handler in node.handlers if _catches(handler, errors)]
        flow = Flow()
        before = dict(scope.names)
        self._run.spend(len(before) * (1 + len(node.handlers)))
        failing: list[Condition] = []
        after: list[Condition] = []
        size = len(self._run.when)
        rest: Sequence[ast.stmt] = node.body
        self._run.trying += 1
        for place, statement in enumerate(node.body):
            if catching and (atom := self.uncertain(statement, scope)) is not None:
                setting = self._run.values(scope.file).get(str(atom))
                if negated(atom) in self._run.when or (setting is not None and not setting[0]):
                    failing = [atom]
                    self._run.dead(node.body[place:], scope.file)
                    break
                if atom not in self._run.when and setting is None:
                    failing.append(atom)
                    self._run.when.append(atom)
            flow = self._reader.block([statement], scope, returns)
            rest = node.body[place + 1 :]
            if flow.ends:
                break
            after += flow.after
            self._run.when += [condition for condition in flow.after if condition not in self._run.when]
        self._run.trying -= 1
        if node.orelse and not flow.ends and not rest:
            flow = self._reader.block(node.orelse, scope, returns)
        if not flow.ends:
            flow.after = list(dict.fromkeys([*after, *flow.after]))
        del self._run.when[size:]
        if catching and flow.ends and flow.leaves == "raise":
            failing = [Atom(f"no error at line {node.lineno}")]
        flow = self._handlers(node, catching, failing, before, flow, scope, returns)
        if node.finalbody:
            last = self._reader.block(node.finalbody, scope, returns)
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
        failed = _any_of([(negated(condition),) for condition in failing])
        results = [(tuple(failing), after)] if not flow.ends else []
        left = ""
        for handler in node.handlers:
            scope.names = dict(before)
            if handler.name:
                scope.names[handler.name] = Opaque(handler)
            main = handler in catching and failing and handler is catching[0]
            when = failed if main else [Atom(f"{_handler_text(handler)} is raised at line {node.lineno}")]
            with self._run.under(when) as possible:
                if not possible:
                    self._run.dead(handler.body, scope.file)
                    continue
                block = self._reader.block(handler.body, scope, returns)
            if main and not block.ends:
                results.append((tuple(failed), scope.names))
            left = block.leaves if main and block.ends else left
        if not failing:
            scope.names = after
            return flow
        scope.names = _joined_names(before, results)
        if flow.ends:
            return Flow(ends=not results, after=list(failed) if results and left != "raise" else [], leaves=flow.leaves)
        return Flow(after=failing if left not in ("", "raise") else [], leaves=left)

    def with_(self, node: ast.With | ast.AsyncWith, scope: Scope, returns: list[ValueOption]) -> Flow:
        for item in node.items:
            value = self._reader.value(item.context_expr, scope)
            if item.optional_vars is not None:
                known = isinstance(value, LibraryValue | InstanceValue)
                self._reader.assign(item.optional_vars, value if known else Opaque(item.context_expr), scope)
        return self._reader.block(node.body, scope, returns)

    def uncertain(self, node: ast.stmt, scope: Scope) -> Condition | None:
        """The condition that an import succeeds, or a search for a schema; None for what is assumed to succeed."""
        if isinstance(node, ast.Expr) and _finds_schema(node):
            question = self._reader.value(node.value, scope)
            return Atom(question.text) if isinstance(question, RegistrationQuestion) else None
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
            unsure = [name for name in names if not self._imports.importable(name, scope)]
            return Atom(f"import {unsure[0]}") if unsure else None
        if isinstance(node, ast.ImportFrom):
            return self._imports.import_condition(node, scope)
        return None


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
    names = dict.fromkeys(name for _, bound in results for name in bound)
    joined: dict[str, Value] = {}
    for name in names:
        values = [(when, bound.get(name, _UNSET)) for when, bound in results]
        present = [ValueOption(when, value) for when, value in values if value is not _UNSET]
        first = present[0].value
        same = len(present) == len(values) and all(option.value is first for option in present)
        joined[name] = first if same else merged(present)
    return joined


def _finds_schema(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called_name(node.value) == FIND_SCHEMA


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(type_, ast.Name) and type_.id in errors for type_ in types)


def _handler_text(handler: ast.ExceptHandler) -> str:
    return "an exception" if handler.type is None else source_text(handler.type)
