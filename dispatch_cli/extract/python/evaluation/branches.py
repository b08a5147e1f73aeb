"""``if``, ``match``, ``try`` and ``with``: what is done under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from dispatch_cli.extract.python.evaluation.binding import Imports
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator, Flow
from dispatch_cli.extract.python.evaluation.options import merged
from dispatch_cli.extract.python.evaluation.values import (
    InstanceValue,
    LibraryValue,
    Opaque,
    RegistrationQuestion,
    Scope,
    Value,
    ValueOption,
    source_text,
)
from dispatch_cli.extract.python.keys import FIND_SCHEMA
from dispatch_cli.extract.python.names import always_raises, called_name
from dispatch_cli.model.conditions.condition import Atom, Condition, Or, negated

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
        self,
        branches: list[tuple[tuple[Condition, ...], Sequence[ast.stmt]]],
        scope: Scope,
        returns: list[ValueOption],
        tried: bool = False,
    ) -> Flow:
        """Go through statements that exclude each other, each under its conditions, and join the names.

        tried: an exception in the first ones is caught.
        """
        before = dict(scope.names)
        self._run.spend(len(before) * len(branches))
        results: list[tuple[tuple[Condition, ...], dict[str, Value], Flow]] = []
        for when, body in branches:
            scope.names = dict(before)
            with self._run.under(when) as possible:
                if not possible:
                    self._run.dead(body, scope.file)
                    continue
                self._run.trying += tried
                flow = self._reader.block(body, scope, returns)
                self._run.trying -= tried
                tried = False
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
        """Go through ``try``: a handler of an import that may fail is a branch, others are reached by an exception."""
        errors = _LOOKUP_ERRORS if any(map(_finds_schema, node.body)) else _IMPORT_ERRORS
        main = next((handler for handler in node.handlers if _catches(handler, errors)), None)
        unsure = [self._uncertain(statement, scope) for statement in node.body] if main is not None else []
        settings = self._run.values(scope.file)
        failing = [atom for atom in dict.fromkeys(unsure) if atom is not None and str(atom) not in settings]
        body = [*node.body, *node.orelse]
        before = dict(scope.names)
        self._run.spend(len(before) * (1 + len(node.handlers)))
        if main is not None and any(atom is not None and not settings.get(str(atom), (True,))[0] for atom in unsure):
            self._run.dead(body, scope.file)
            flow = self._reader.block(main.body, scope, returns)
        elif main is not None and failing:
            failed = _any_of([(negated(atom),) for atom in failing])
            flow = self._branches([(tuple(failing), body), (tuple(failed), main.body)], scope, returns, tried=True)
        else:
            main = None
            allowed = any(_catches(handler, _LOOKUP_ERRORS) for handler in node.handlers)
            self._run.trying += 1
            self._run.refusals_allowed += allowed
            flow = self._reader.block(body, scope, returns)
            self._run.refusals_allowed -= allowed
            self._run.trying -= 1
        after = scope.names
        for handler in node.handlers:
            scope.names = dict(before)
            with self._run.under([Atom(f"{_handler_text(handler)} is raised at line {node.lineno}")]):
                if handler is not main:
                    self._reader.block(handler.body, scope, returns)
        scope.names = after
        if node.finalbody:
            last = self._reader.block(node.finalbody, scope, returns)
            flow.ends = flow.ends or last.ends
        return flow

    def with_(self, node: ast.With | ast.AsyncWith, scope: Scope, returns: list[ValueOption]) -> Flow:
        for item in node.items:
            value = self._reader.value(item.context_expr, scope)
            if item.optional_vars is not None:
                known = isinstance(value, LibraryValue | InstanceValue)
                self._reader.assign(item.optional_vars, value if known else Opaque(item.context_expr), scope)
        return self._reader.block(node.body, scope, returns)

    def _uncertain(self, node: ast.stmt, scope: Scope) -> Condition | None:
        """The condition that an import succeeds, or a search for a schema; None for what is assumed to succeed."""
        if isinstance(node, ast.Expr) and _finds_schema(node):
            question = self._reader.value(node.value, scope)
            return Atom(question.text) if isinstance(question, RegistrationQuestion) else None
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self._imports.condition(node, scope)
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
