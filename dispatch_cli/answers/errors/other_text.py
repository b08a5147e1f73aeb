"""The answer to a text that has no known sentence: what the loaded state says of what it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.errors.case import NO_KERNEL_RULES, built_backends, device_of
from dispatch_cli.answers.errors.conclude import Fact, Proof
from dispatch_cli.answers.errors.messages import MESSAGES, OTHER_TEXT, filled
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.printed_keys import read_key
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.answers.explain.report import explain_report
from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.arguments import writes


def with_state(report: ErrorReport, state: State, text: ErrorText) -> ErrorReport:
    """The report with facts of the state about the operator, at the key and in the contexts that the text proves."""
    universe = state.dispatcher.universe
    names = _operators(state, text.operator)
    operator = text.operator
    printed = None if text.key is None else read_key(universe, universe.devices.get(text.key.lower(), text.key))
    key = None if printed is None or printed.key not in universe.slot else printed.key
    renamed = None if printed is None else printed.backend
    label = key if renamed is None else f"{renamed} ({key})"
    backend = None if key is None else device_of(universe, key)
    is_built = backend is None or backend in built_backends(state.dispatcher)
    facts = [*_of_definition(state, names)]
    if key is not None and not is_built:
        missing = f"{_over(state)} is without {label}, so that it does not say which kernels there are."
        facts.append(Fact("not-in-state", (key,), Proof.STATE, missing))
    elif key is not None:
        facts += _of_slots(state, names, key)
    is_slot = key is not None and is_built and len(names) == 1
    return replace(
        report,
        operator=operator,
        key=key,
        says=filled(MESSAGES[OTHER_TEXT].says, operator, operator and label, text.details),
        facts=tuple(facts),
        explained=explain_report(state, names[0], key) if key and is_slot else None,
    )


def _operators(state: State, named: str | None) -> list[OperatorName]:
    """The operators of a name: itself, or all its overloads where it names none."""
    if named is None or OperatorName.parse(named) in state.dispatcher:
        return [] if named is None else [OperatorName.parse(named)]
    names = [*map(OperatorName.parse, state.dispatcher.names())]
    return [name for name in names if name.name == named]


def _of_definition(state: State, names: list[OperatorName]) -> Iterator[Fact]:
    """The operator as it is defined, with the writes of which tracers make conditions."""
    definition = state.dispatcher.operator(names[0]).definition if len(names) == 1 else None
    schema = None if definition is None else definition.known_schema
    if schema is not None:
        written = tuple(argument.name for argument in schema.arguments if writes(argument))
        changes = f" It writes to {some_of(written)}." if written else ""
        yield Fact("schema", written, Proof.STATE, f"{_over(state)} defines it as {schema}.{changes}")


def _of_slots(state: State, names: list[OperatorName], key: str) -> Iterator[Fact]:
    """The content of the operator's slot; of several overloads, where it is the same."""
    rules = {state.dispatcher.table(name)[key].rule for name in names}
    kernels = {rule not in NO_KERNEL_RULES for rule in rules}
    if len(kernels) == 1 and Rule.NOT_KNOWN not in rules:
        has = "a kernel" if kernels.pop() else "no kernel"
        yield Fact("slot", (key,), Proof.STATE, f"{_over(state)} has {has} of {_named(names)} at {key}.")


def _over(state: State) -> str:
    return " with ".join(state.over) or "The state here"


def _named(names: list[OperatorName]) -> str:
    return str(names[0]) if len(names) == 1 else f"all overloads of {names[0].name}"
