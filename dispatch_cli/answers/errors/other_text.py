"""The answer to a text that has no known sentence: what the loaded state says of what it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.errors.case import NO_KERNEL_RULES, built_backends, device_of
from dispatch_cli.answers.errors.conclude import Fact, Proof
from dispatch_cli.answers.errors.messages import MESSAGES, OTHER_TEXT, filled
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.evidence import BY_NAME
from dispatch_cli.answers.errors.reading.printed_keys import read_key
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.answers.explain.report import explain_report
from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.checks.support_words import reason_words
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.support.cell import Cell, Verdict
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.arguments import is_mutable, writes
from dispatch_cli.model.support import SupportContext
from dispatch_cli.model.universe import AUTOGRAD

SUPPORT = {
    "vmap": SupportContext.VMAP,
    "transform": SupportContext.GRAD,
    "compile": SupportContext.COMPILE,
    "fake": SupportContext.FAKE,
    "backward": SupportContext.TRAIN,
}
"""The contexts that the support of an operator is known in."""


def with_state(report: ErrorReport, state: State, text: ErrorText) -> ErrorReport:
    """The report with facts of the state about the operator, at the key and in the contexts that the text proves."""
    universe = state.dispatcher.universe
    names = _operators(state, text.operator)
    operator = text.operator
    if text.detail(BY_NAME) is not None:
        operator = str(names[0] if len(names) == 1 else names[0].name) if names else None
    printed = None if text.key is None else read_key(universe, universe.devices.get(text.key.lower(), text.key))
    key = None if printed is None or printed.key not in universe.slot else printed.key
    renamed = None if printed is None else printed.backend
    label = key if renamed is None else f"{renamed} ({key})"
    backend = None if key is None else device_of(universe, key)
    is_built = backend is None or backend in built_backends(state.dispatcher)
    facts = [*_of_definition(state, names, text)]
    if key is not None and not is_built:
        missing = f"{_over(state)} is without {label}, so that it does not say which kernels there are."
        facts.append(Fact("not-in-state", (key,), Proof.STATE, missing))
    elif key is not None:
        facts += _of_slots(state, names, key)
    facts += _of_contexts(state, names, text, backend if is_built else None)
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
    """The operators of a name: itself, or all its overloads where it names none.

    derivatives.yaml names nodes of autograd after operators: ``GridSampler2D`` after ``grid_sampler_2d``.
    """
    if named is None or OperatorName.parse(named) in state.dispatcher:
        return [] if named is None else [OperatorName.parse(named)]
    names = [*map(OperatorName.parse, state.dispatcher.names())]
    overloads = [name for name in names if name.name == named]
    if overloads or named.islower():
        return overloads
    nodes = [name for name in names if name.name.replace("_", "") == named.lower() and _has_node(state, name)]
    public = [name for name in nodes if "::_" not in name.name]
    return public or nodes


def _has_node(state: State, name: OperatorName) -> bool:
    """True for an operator with a generated autograd kernel that is a function of its arguments."""
    operator = state.dispatcher.operator(name)
    schema = None if operator.definition is None else operator.definition.known_schema
    return AUTOGRAD in operator.kernels and schema is not None and not is_mutable(schema)


def _of_definition(state: State, names: list[OperatorName], text: ErrorText) -> Iterator[Fact]:
    """The operator as it is defined, with the writes of which tracers make conditions."""
    if names and text.detail(BY_NAME) is not None:
        likely = f"Probably the operator is {names[0].name}: a function or a node of autograd of that name is named."
        yield Fact("by-name", (), Proof.LIKELY, likely)
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


def _of_contexts(state: State, names: list[OperatorName], text: ErrorText, backend: str | None) -> Iterator[Fact]:
    """The outcome of a call in a context that the text proves, by simulation; of overloads, where it is the same."""
    context = next((context for name, context in SUPPORT.items() if text.detail(name) is not None), None)
    if not names or context is None:
        return
    columns = support_columns(state, names, [backend or "CPU"], [context])
    rows = [row.cells for row in support_rows(state, names, columns)]
    for column, *cells in zip(columns, *rows, strict=True):
        outcomes = {_outcome(cell) for cell in cells}
        outcome = outcomes.pop()
        if not outcomes and outcome is not None:
            where = f"A call on {column.backend} in the context '{column.context.value}' of `dispatch-cli support`"
            yield Fact("support", (column.backend,), Proof.STATE, f"{where} {outcome}.")


def _outcome(cell: Cell) -> str | None:
    """The outcome of a call in words; None where the state does not decide it, or the context means nothing."""
    if cell.verdict.works:
        return f"is served by the kernel at {cell.key}" if cell.key else "works"
    if cell.verdict in (Verdict.NOT_KNOWN, Verdict.NOT_APPLICABLE):
        return None
    return f"fails: {reason_words(cell)}"


def _over(state: State) -> str:
    return " with ".join(state.over) or "The state here"


def _named(names: list[OperatorName]) -> str:
    return str(names[0]) if len(names) == 1 else f"all overloads of {names[0].name}"
