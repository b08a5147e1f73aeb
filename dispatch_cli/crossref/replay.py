"""Registrations of a PyTorch into the engine, one by one, as a history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dispatch_cli import universes
from dispatch_cli.capture.document import higher_order_operator
from dispatch_cli.crossref.answers import Answers, Compared, Disagreement
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_signature

_DEFAULT_ALIAS_ANALYSIS = "default"


@dataclass(frozen=True, slots=True)
class Subject:
    """The engine as it is compared. python_keys: per operator, the keys that have a Python kernel.

    refusals: registrations that PyTorch has and the engine does not take. higher_order: its higher-order operators, by
    name.
    """

    dispatcher: Dispatcher
    python_keys: Mapping[str, tuple[str, ...]]
    refusals: tuple[Disagreement, ...] = ()
    higher_order: Mapping[str, HigherOrderOperator] = field(default_factory=dict)


def replay(answers: Answers) -> Subject:
    """Register what a PyTorch has registered. The live tables are settled at the end: the true order is not known.

    Errors: UniverseError.
    """
    dispatcher = Dispatcher(universes.from_data(answers["universe"]))
    reason = "the line cannot be parsed"
    refusals = [_refused(skipped["name"], "", skipped["line"], reason) for skipped in answers["skipped"]]
    for operator in answers["operators"]:
        refusals += _register(dispatcher, operator)
    python_keys = {operator["name"]: tuple(operator["python"]) for operator in answers["operators"]}
    higher_order = {operator["name"]: higher_order_operator(operator) for operator in answers["higher_order_operators"]}
    return Subject(dispatcher, python_keys, tuple(refusals), higher_order)


def subject_of(state: State) -> Subject:
    """The engine after declaration files, with the Python kernels of the embedded state that they continue."""
    python_keys: dict[str, tuple[str, ...]] = {}
    if state.source is not None:
        for name in state.source.names:
            python_keys[name] = tuple(state.captured_python_kernels(name))
    for kernel in state.declarations.python_kernels:
        name = str(kernel.operator)
        python_keys[name] = tuple(dict.fromkeys((*python_keys.get(name, ()), kernel.dispatch_key)))
    higher_order = {operator.name: operator for operator in state.higher_order_operators}
    return Subject(state.dispatcher, python_keys, (), higher_order)


def _register(dispatcher: Dispatcher, operator: Mapping[str, Any]) -> Iterator[Disagreement]:
    """Register an operator with all its kernels, oldest first; yields what is refused."""
    name = OperatorName.parse(operator["name"])
    if operator["schema"] is not None:
        yield from _attempt(name, "", operator["schema"], partial(_define, dispatcher, operator))
    for key, kernels in operator["kernels"].items():
        for kernel in reversed(kernels):
            what = f"{kernel['debug']} :: {kernel['signature'] or '(none)'}"
            yield from _attempt(name, key, what, partial(_implement, dispatcher, name, key, kernel))
    if name in dispatcher:
        dispatcher.settle(name)


def _attempt(name: OperatorName, key: str, what: str, register: Callable[[], None]) -> Iterator[Disagreement]:
    try:
        register()
    except (Refused, ValueError) as error:
        yield _refused(str(name), key, what, str(error))


def _refused(operator: str, key: str, what: str, reason: str) -> Disagreement:
    """A registration that is refused. key: where a kernel is registered; empty for what is no kernel.

    what: the schema, the kernel with its signature, or the line of a dump.
    """
    return Disagreement(operator, Compared.REGISTRATION, key or None, f"refused: {reason}", what)


def _define(dispatcher: Dispatcher, operator: Mapping[str, Any]) -> None:
    """Errors: Refused, ValueError (for a schema or a kind that is unknown)."""
    kind = operator["alias_analysis"]
    alias_analysis = None if kind == _DEFAULT_ALIAS_ANALYSIS else AliasAnalysisKind(kind)
    dispatcher.define(parse_printed_schema(operator["schema"]), operator["debug"], alias_analysis)


def _implement(dispatcher: Dispatcher, name: OperatorName, key: str, kernel: Mapping[str, Any]) -> None:
    """Errors: Refused, ValueError (for a signature that is not understood)."""
    dispatcher.implement(name, key, _kernel(kernel))


def _kernel(kernel: Mapping[str, Any]) -> Kernel:
    signature = kernel["signature"]
    return Kernel(
        debug=kernel["debug"],
        signature=None if signature is None else parse_signature(signature),
        boxed=kernel["boxed"],
        unboxed=kernel["unboxed"],
        fallthrough=kernel["fallthrough"],
    )
