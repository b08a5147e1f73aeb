"""A simulated call as a report: for each selection of a key set the outcome of every key; the steps; the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus, ThreadKeys, Visit, key_outcomes, thread_keys
from dispatch_cli.answers.shared.notes import Note, NoteKind, table_notes
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.report import changed_slots, row_of
from dispatch_cli.answers.table.slot_notes import not_built, slot_notes
from dispatch_cli.engine.call.gradient import LostGradient, lost_in_call
from dispatch_cli.engine.call.schema_facts import tensors_left_out
from dispatch_cli.engine.call.simulate import Unwrapped, unwrapped
from dispatch_cli.engine.call.trace import Call, End, EndKind, Error, ErrorKind, Hop, Selection, Why
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.kernel import Redispatch
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import META, UNDEFINED

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.advice_report import Advice


class StepReport(NamedTuple):
    """A kernel that was called. number: from 1.

    entry: what the slot holds; canonical: what it should hold, where that is something else.
    redispatches: what its declaration says that it calls, if anything.
    """

    number: int
    hop: Hop
    entry: TableRow
    canonical: TableRow | None
    redispatches: Redispatch | None
    redispatches_declared_at: Span | None


class Stage(NamedTuple):
    """One selection, the outcome of each of its keys, and the steps that it led to.

    included, excluded: what the thread includes and excludes, beside what a fresh one does.
    """

    selection: Selection
    included: ThreadKeys
    excluded: ThreadKeys
    keys: tuple[KeyOutcome[TableRow], ...]
    steps: tuple[StepReport, ...]


class Assumed(NamedTuple):
    """The numbers of the steps whose kernels are assumed to do what kernels at their keys do by convention.

    kernels: these steps.
    """

    steps: tuple[int, ...]
    kernels: tuple[StepReport, ...]


@dataclass(frozen=True, slots=True)
class ResolveReport(StartsFrom):
    """A call of an operator.

    tensors, contexts: as they are read. left_out: the operator's arguments that must be tensors and have none here.
    options: what was given beside tensors.
    keyset: the expression that was given instead of a key set from tensors.
    one_device: FakeTensorMode, too, makes no exception for this operator: all tensors have to be on one device.
    gradient: where a tensor requires a gradient and what runs gives none, what becomes of it.
    refusal: of a call that the dispatcher brings to its end, where PyTorch raises all the same, in it or in its
    backward pass: the cell of `support`, with the rule and the kernel.
    notes: why slots on the way hold what they hold. advice: of a call that fails, why, and what would help.
    unwrapped: the functorch transforms of the contexts that wrap none of the tensors.
    selections: none, where nothing defines the operator: such a call does not get to the dispatcher.
    """

    REPORT: ClassVar[str] = "resolve"

    operator: str
    schema: str | None
    span: Span | None
    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    left_out: tuple[str, ...]
    options: Options
    keyset: str | None
    end: End
    assumed: Assumed | None
    unwrapped: Unwrapped | None
    one_device: bool
    gradient: LostGradient | None
    refusal: Cell | None
    notes: tuple[Note, ...]
    advice: tuple[Advice, ...]
    selections: tuple[Stage, ...]

    @property
    def fails(self) -> bool:
        """True if the call is known to end in an error."""
        return self.end.kind is EndKind.ERROR or self.refusal is not None

    @property
    def steps(self) -> tuple[StepReport, ...]:
        """Every step in order."""
        return tuple(step for stage in self.selections for step in stage.steps)


@dataclass(frozen=True, slots=True)
class RecordedCallReport(ResolveReport):
    """A call of a recording.

    predicted: where other kernels were observed, the keys of those that are predicted. ended: how it ended.
    """

    REPORT: ClassVar[str] = "trace-call"

    predicted: tuple[str, ...]
    ended: CallEnd


def resolve_report(state: State, call: Call, keyset: str | None = None, advised: bool = True) -> ResolveReport:
    """The report of a call. advised: with what would help, where it fails."""
    dispatcher = state.dispatcher
    header = dispatcher.header(call.operator)
    definition = dispatcher.operator(call.operator).definition
    schema = None if definition is None else definition.known_schema
    rules = state.fake_rules(call.operator)
    if definition is None and advised and keyset is None and (error := _not_defined(state, call.operator)) is not None:
        call = call._replace(hops=(), end=End(EndKind.ERROR, error=error))
    selections = tuple(_StageReader(state, call.operator).stages(call.hops)) if call.hops else ()
    by_convention = tuple(step for stage in selections for step in stage.steps if step.hop.why is Why.CONVENTION)
    report = ResolveReport(
        *starts_from(state, (call.operator,)),
        operator=str(call.operator),
        schema=header.schema,
        span=header.span,
        tensors=tuple(map(str, call.tensors)),
        contexts=tuple(map(str, call.contexts)),
        left_out=() if keyset is not None else tensors_left_out(schema, len(call.tensors)),
        options=call.options,
        keyset=keyset,
        end=call.end,
        assumed=Assumed(tuple(step.number for step in by_convention), by_convention) if by_convention else None,
        unwrapped=unwrapped(dispatcher.universe, call.tensors, call.contexts),
        one_device=rules.implementation is None and rules.mixes is None,
        gradient=lost_in_call(call, dispatcher.universe, schema),
        refusal=None,
        notes=_notes(state, call.operator, selections),
        advice=(),
        selections=selections,
    )
    if report.end.error is not None and report.end.error.kind is ErrorKind.NOT_DEFINED:
        return replace(report, advice=_names_to_correct(state, call.operator))
    if report.left_out and not report.tensors:
        advised = False  # what it lacks are tensors
    if report.fails or keyset is not None or not advised:
        return _with_help(report, state, call) if report.fails and advised else report
    from dispatch_cli.engine.support.verdicts import Judges

    return replace(report, refusal=Judges(state).of(call.operator).refused(call))


def _not_defined(state: State, name: OperatorName) -> Error | None:
    """The error of a call of an operator that has kernels alone; None where something that was not read may define it.

    The check of the name decides that.
    """
    from dispatch_cli.checks.catalogue.dangling_implementation import CHECK
    from dispatch_cli.checks.check import Severity
    from dispatch_cli.checks.view import View
    from dispatch_cli.engine.call.errors import not_defined

    view = View(state, [name])
    if not any(CHECK.hedged(view, finding).severity is not Severity.INFO for finding in CHECK.find(view)):
        return None
    overloads = view.overloads.get(name.name, ())
    return not_defined(name, any(view.schema_text(overload) is not None for overload in overloads))


def _names_to_correct(state: State, name: OperatorName) -> tuple[Advice, ...]:
    """The advice on the name of an operator that nothing defines: it is the same at each of its kernels."""
    from dispatch_cli.answers.explain.adviser import advice_on

    key = next((key for key in state.dispatcher.active(name) if key in state.dispatcher.universe.slot), UNDEFINED)
    named = (NoteKind.NEAR_NAME, NoteKind.OVERLOADS)
    notes = slot_notes(state.dispatcher, name, key)
    return advice_on(state, name, [note for note in notes if note.kind in named])


def _with_help(report: ResolveReport, state: State, call: Call) -> ResolveReport:
    """The report of a call that fails, with what would help; what advice says is no note."""
    from dispatch_cli.answers.explain.adviser import advice_on
    from dispatch_cli.answers.explain.trial import Question, failing_slot

    asked = Question(call.tensors, call.contexts, call.options) if report.keyset is None else None
    slot = failing_slot(call) if call.end.fake is None else META
    notes_on = slot_notes(state.dispatcher, call.operator, slot)
    if call.end.fake is not None:  # the fake outcome says what else is missing
        notes_on = tuple(note for note in notes_on if note.kind is NoteKind.NEAR_KERNELS)
    advice = advice_on(state, call.operator, notes_on, asked)
    advised = {(item.kind, key) for item in advice for key in item.keys}
    notes = tuple(note for note in report.notes if advised.isdisjoint((note.kind, key) for key in note.keys))
    return replace(report, notes=notes, advice=advice)


class _StageReader:
    """The stages of a call of one operator."""

    def __init__(self, state: State, name: OperatorName) -> None:
        self._state = state
        self._universe = state.dispatcher.universe
        self._live = state.dispatcher.operator(name).live
        self._stale = state.dispatcher.stale_slots(name)
        self._before = changed_slots(state, name)

    def stages(self, hops: tuple[Hop, ...]) -> Iterator[Stage]:
        """The hops in stages, each from a selection to the next one."""
        starts = [position for position, hop in enumerate(hops) if hop.selection is not None]
        for start, end in zip(starts, [*starts[1:], len(hops)], strict=True):
            steps = tuple(self._step(number, hop) for number, hop in enumerate(hops[start:end], start + 1))
            selection = hops[start].selection
            assert selection is not None, "a stage begins with a selection"
            visits = [Visit(step.number, step.hop.slot, step.hop.keyset) for step in steps]
            yield Stage(
                selection=selection,
                included=thread_keys(selection.included, self._universe.default_included),
                excluded=thread_keys(selection.excluded, self._universe.default_excluded),
                keys=tuple(key_outcomes(selection, visits, self._entry, self._canonical)),
                steps=steps,
            )

    def _step(self, number: int, hop: Hop) -> StepReport:
        declared = hop.live.kernel.redispatches if hop.why is Why.DECLARED and hop.live.kernel is not None else None
        return StepReport(
            number=number,
            hop=hop,
            entry=self._row(hop.live),
            canonical=None if hop.canonical is None else self._row(hop.canonical, self._stale.get(hop.slot)),
            redispatches=declared,
            redispatches_declared_at=None if declared is None else declared.span,
        )

    def _entry(self, key: str) -> TableRow:
        return self._row(self._live[key])

    def _canonical(self, key: str) -> TableRow | None:
        stale = self._stale.get(key)
        return None if stale is None else self._row(stale.canonical, stale)

    def _row(self, entry: TableEntry, stale: StaleEntry | None = None) -> TableRow:
        return row_of(self._state, entry, stale, self._before.get(entry.key))


def _notes(state: State, name: OperatorName, stages: tuple[Stage, ...]) -> tuple[Note, ...]:
    """The notes of the table on slots that the call came to, and that it did not get to.

    They are about what the registrations determine, and so not about slots that hold something else.
    """
    dispatcher = state.dispatcher
    stale = dispatcher.stale_slots(name)
    shown = dict.fromkeys(
        outcome.key
        for stage in stages
        for outcome in stage.keys
        if outcome.status in (KeyStatus.RUNS, KeyStatus.NOT_REACHED) and outcome.key not in stale
    )
    table = dispatcher.table(name)
    notes = table_notes(dispatcher, table, dispatcher.header(name).schema, shown, stale)
    return (*notes, *not_built(dispatcher, table, shown))
