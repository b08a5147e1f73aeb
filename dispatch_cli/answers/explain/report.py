"""One operator at one key, explained: each rule, the registrations concerned, advice; or an alias key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from dispatch_cli.answers.explain.advice_report import Advice
from dispatch_cli.answers.explain.rule_steps import Concerned, RuleLine, concerned, filled_by, rule_lines, runners_up
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import Folded, KeyRuns, PythonRow, TableRow, alike, answer_of, runs_of
from dispatch_cli.answers.table.report import changed_slots, row_of
from dispatch_cli.answers.table.slot_notes import backend_key_below, slot_notes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry, entry_for
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Origin, Span
from dispatch_cli.model.universe import UNDEFINED, Universe, autograd_key_of


class Registered(NamedTuple):
    """A kernel registered at the key; all but the first are overridden."""

    kernel: str
    fallthrough: bool
    active: bool
    span: Span | None


class AliasExplanation(NamedTuple):
    """An alias key.

    fills: the slots that its kernel fills, or would fill if there were one (`registered` is empty then).
    lost: the slots that it covers and does not fill, by what fills them instead. uncovered: the other slots.
    stale: the covered slots whose live entry is another.
    """

    key: str
    registered: tuple[Registered, ...]
    fills: KeyRuns
    lost: tuple[Folded[TableRow], ...]
    uncovered: KeyRuns
    stale: tuple[Folded[TableRow], ...]
    kind: Literal["alias"] = "alias"


class BlockExplanation(NamedTuple):
    """A functionality that has a slot per backend and none of its own. slots: what is in these."""

    key: str
    registered: tuple[Registered, ...]
    slots: tuple[Folded[TableRow], ...]
    kind: Literal["functionality"] = "functionality"


def explain_alias(state: State, name: OperatorName, alias: str) -> AliasExplanation:
    """Explain an alias key. Errors: Refused for an unknown operator."""
    dispatcher, universe = state.dispatcher, state.dispatcher.universe
    covered = _covered(universe, alias)
    fills = frozenset(filled_by(dispatcher, name, alias))
    rows = _rows(state, name, covered)
    return AliasExplanation(
        key=alias,
        registered=_registered(state, name, alias),
        fills=runs_of((key for key in covered if key in fills), universe.slot),
        lost=alike((row for row in rows if row.key not in fills), answer_of),
        uncovered=runs_of((key for key in universe.slots if key not in covered), universe.slot),
        stale=alike((row for row in rows if row.stale), answer_of),
    )


def explain_block(state: State, name: OperatorName, functionality: str) -> BlockExplanation:
    """Explain a functionality that is not a runtime key itself. Errors: Refused for an unknown operator."""
    keys = state.dispatcher.universe.per_backend[functionality]
    rows = _rows(state, name, keys)
    return BlockExplanation(functionality, _registered(state, name, functionality), alike(rows, answer_of))


def _covered(universe: Universe, alias: str) -> tuple[str, ...]:
    fills_undefined = any(row.alias == alias and row.fills_undefined for row in PRECEDENCE)
    return ((UNDEFINED,) if fills_undefined else ()) + universe.covered_by(alias)


def _registered(state: State, name: OperatorName, key: str) -> tuple[Registered, ...]:
    registrations = state.dispatcher.operator(name).kernels.get(key, ())
    return tuple(
        Registered(registration.kernel.label, registration.kernel.fallthrough, position == 0, registration.kernel.span)
        for position, registration in enumerate(registrations)
    )


def _rows(state: State, name: OperatorName, keys: tuple[str, ...]) -> tuple[TableRow, ...]:
    dispatcher = state.dispatcher
    table = dispatcher.table(name)
    stale = dispatcher.stale_slots(name)
    before = changed_slots(state, name)
    return tuple(row_of(state, table[key], stale.get(key), before.get(key)) for key in keys)


class Cause(NamedTuple):
    """The change after which the live table differs from what the registrations determine."""

    key: str
    kernel: str
    change: Literal["registered", "dropped"]
    backend_fallback: bool
    span: Span | None


class SlotExplanation(NamedTuple):
    """A slot.

    answer: with the live kernel where that is another, and what it was in the base where that was another.
    live: the live entry, where it is stale, and cause: what made it so.
    next: the answer without the active kernel that gives this one; None where there is none.
    above: the slot of the autograd key that comes before a backend key. below: the slot that follows an autograd key.
    in_base: the base has the operator. python: what Python's ``resolve_key`` chooses, where that is not this.
    advice: what is to be known about it, and what would help; only where `explain` was asked.
    """

    key: str
    answer: TableRow
    rules: tuple[RuleLine, ...]
    registrations: tuple[Concerned, ...]
    next: TableRow | None
    next_is_overridden: bool
    live: TableRow | None
    cause: Cause | None
    above: TableRow | None
    below: TableRow | None
    in_base: bool
    python: PythonRow | None
    advice: tuple[Advice, ...] = ()
    kind: Literal["slot"] = "slot"


@dataclass(frozen=True, slots=True)
class ExplainReport(StartsFrom):
    """The answer to "why this, at this key?".

    new: the states that it starts from do not have the operator. origin: through what the operator came, beyond its
    place.
    """

    REPORT: ClassVar[str] = "explain"

    operator: str
    schema: str | None
    span: Span | None
    origin: Origin
    new: bool
    what: SlotExplanation | AliasExplanation | BlockExplanation


def explain_report(state: State, name: OperatorName, key: str) -> ExplainReport:
    """The answer for an operator at a key of its universe. Errors: Refused for an unknown operator."""
    return report_on(state, name, explain(state, name, key))


def report_on(
    state: State, name: OperatorName, what: SlotExplanation | AliasExplanation | BlockExplanation
) -> ExplainReport:
    """An explanation with what it is about. Errors: Refused for an unknown operator."""
    header = state.dispatcher.header(name)
    return ExplainReport(
        *starts_from(state, (name,)),
        operator=str(name),
        schema=header.schema,
        span=header.span,
        origin=state.operator_origin(name),
        new=state.base is not None and name not in state.base,
        what=what,
    )


def explain(state: State, name: OperatorName, key: str) -> SlotExplanation | AliasExplanation | BlockExplanation:
    """Explain an operator at a key of its universe. Errors: Refused for an unknown operator."""
    universe = state.dispatcher.universe
    if key in universe.slot:
        explained = explain_slot(state, name, key)
        notes = slot_notes(state.dispatcher, name, key)
        if not notes:
            return explained
        from dispatch_cli.answers.explain.adviser import advice_on

        return explained._replace(advice=advice_on(state, name, notes))
    return explain_alias(state, name, key) if universe.is_alias(key) else explain_block(state, name, key)


def explain_slot(state: State, name: OperatorName, key: str) -> SlotExplanation:
    """Explain a slot. Errors: Refused for an unknown operator, and for a key without a slot."""
    dispatcher = state.dispatcher
    answers = runners_up(dispatcher, name, key)
    table = dispatcher.table(name)
    stale = dispatcher.stale_slots(name)
    behind = stale.get(key)
    entry = answers[0].entry
    overridden = _overridden(dispatcher, name, entry.registration)
    following = entry._replace(registration=overridden[0]) if overridden else answers[1].entry if answers[1:] else None
    above, below = autograd_key_of(dispatcher.universe, key), backend_key_below(dispatcher.universe, key)
    return SlotExplanation(
        key=key,
        answer=row_of(state, entry, behind, changed_slots(state, name).get(key)),
        rules=tuple(rule_lines(dispatcher, name, key, answers)),
        registrations=tuple(concerned(state, name, key, answers)),
        next=row_of(state, following) if following is not None else None,
        next_is_overridden=bool(overridden),
        live=row_of(state, behind.live) if behind is not None else None,
        cause=cause_of(behind) if behind is not None else None,
        above=row_of(state, table[above], stale.get(above)) if above is not None else None,
        below=row_of(state, table[below], stale.get(below)) if below is not None else None,
        in_base=state.base is not None and name in state.base,
        python=_python(state, name, key),
    )


def _python(state: State, name: OperatorName, key: str) -> PythonRow | None:
    """Python's choice at a slot, where it is another key than in the C++ table, or a Python kernel."""
    dispatcher = state.dispatcher
    kernels = {kernel.dispatch_key: kernel for kernel in state.python_kernels(name)}
    decision = python_table.decisions(dispatcher, name, kernels)[dispatcher.universe.slot[key]]
    divergences = python_table.divergences(dispatcher, dispatcher.shape(name)[0], kernels)
    chosen = python_table.chosen_key(key, decision)
    function = kernels.get(chosen) if chosen is not None else None
    is_cpp = chosen is not None and function is None
    active, fallbacks = dispatcher.active(name), dispatcher.fallbacks
    entry = entry_for(key, decision, active, fallbacks) if is_cpp else TableEntry(key, decision, None)
    row = PythonRow(*row_of(state, entry))
    raises = chosen is None and decision.rule is not Rule.NOT_KNOWN
    divergence = next((item for item in divergences if item.key == key), None)
    if function is None and divergence is None:
        return None
    from dispatch_cli.answers.shared.divergences import difference_of

    return row._replace(
        kernel=row.kernel if is_cpp else function.kernel if function is not None else None,
        span=row.span if function is None else function.span,
        python=function is not None,
        chosen_key=chosen,
        error=python_table.error_text(name, key, decision.rule) if raises else None,
        differs=None if divergence is None else difference_of(divergence),
    )


def cause_of(behind: StaleEntry) -> Cause:
    """The change after which a slot of the live table was left behind."""
    change = behind.cause
    kernel = change.cause.kernel
    return Cause(change.key, kernel.label, "registered" if change.came else "dropped", change.fallback, kernel.span)


def _overridden(dispatcher: Dispatcher, name: OperatorName, active: Registration | None) -> list[Registration]:
    """The registrations that *active* stands before, newest first."""
    if active is None or active.operator is None:
        return []
    registrations = dispatcher.operator(name).kernels[active.key]
    return registrations[registrations.index(active) + 1 :]
