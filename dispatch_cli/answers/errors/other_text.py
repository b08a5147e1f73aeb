"""The answer to a text that has no known sentence: what the loaded state says of what it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.errors.case import built_backends, device_of
from dispatch_cli.answers.errors.conclude import Fact, Proof
from dispatch_cli.answers.errors.messages import MESSAGES, OTHER_TEXT, filled
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.evidence import CALL, FRAME, RAISER
from dispatch_cli.answers.errors.reading.printed import read_key
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.answers.explain.report import explain_report
from dispatch_cli.answers.shared.selection import some_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.arguments import writes


def with_state(report: ErrorReport, state: State, text: ErrorText) -> ErrorReport:
    """The report with facts of the text, and of the state about the operator and the key that it names."""
    universe = state.dispatcher.universe
    name = _operator(state, text.operator)
    printed = None if text.key is None else read_key(universe, universe.devices.get(text.key.lower(), text.key))
    key = None if printed is None or printed.key not in universe.slot else printed.key
    renamed = None if printed is None else printed.backend
    label = key if renamed is None else f"{renamed} ({key})"
    backend = None if key is None else device_of(universe, key)
    is_built = backend is None or backend in built_backends(state.dispatcher)
    facts = [*_of_text(text)]
    if name is not None:
        facts += _of_definition(state, name)
    if key is not None and not is_built:
        missing = f"{_over(state)} is without {label}, so that it does not say which kernels there are."
        facts.append(Fact("not-in-state", (key,), Proof.STATE, missing))
    return replace(
        report,
        key=key,
        says=filled(MESSAGES[OTHER_TEXT].says, text.operator, text.operator and label, text.details),
        facts=tuple(facts),
        explained=explain_report(state, name, key) if key and name and is_built else None,
    )


def _of_text(text: ErrorText) -> Iterator[Fact]:
    """The call and the place in PyTorch that the text itself names."""
    call, frame, raiser = text.detail(CALL), text.detail(FRAME), text.detail(RAISER)
    if raiser is not None:
        yield Fact("raiser", (), Proof.TEXT, f"The error is raised by {raiser}, which is no file of PyTorch.")
    if call is not None:
        yield Fact("call", (), Proof.TEXT, f"The traced call that failed is `{call}`.")
    if frame is not None:
        yield Fact("frame", (), Proof.TEXT, f"The innermost frame of PyTorch in its traceback is {frame}.")


def _operator(state: State, named: str | None) -> OperatorName | None:
    """The operator of a name, or its only overload; None where the state has neither."""
    if named is None or OperatorName.parse(named) in state.dispatcher:
        return None if named is None else OperatorName.parse(named)
    overloads = [name for name in map(OperatorName.parse, state.dispatcher.names()) if name.name == named]
    return overloads[0] if len(overloads) == 1 else None


def _of_definition(state: State, name: OperatorName) -> Iterator[Fact]:
    """The operator as it is defined, with the writes of which tracers make conditions."""
    definition = state.dispatcher.operator(name).definition
    schema = None if definition is None else definition.known_schema
    if schema is not None:
        written = tuple(argument.name for argument in schema.arguments if writes(argument))
        changes = f" It writes to {some_of(written)}." if written else ""
        yield Fact("schema", written, Proof.STATE, f"{_over(state)} defines it as {schema}.{changes}")


def _over(state: State) -> str:
    return " with ".join(state.over) or "The state here"
