"""A simulated call as a report: for each selection of a key set, what became of every key of it; the steps; the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.call.options import Alternative, alternatives
from dispatch_cli.engine.call.trace import (
    Call,
    ChosenBy,
    Does,
    End,
    EndKind,
    ErrorKind,
    Hop,
    MaskKind,
    PythonChoice,
    Reached,
    Selection,
    Why,
)
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.named_sets import functionalities_of
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.model.kernel import Redispatch
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import Options
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe
from dispatch_cli.report.key_outcomes import KeyOutcome, KeyStatus, key_outcomes
from dispatch_cli.report.notes import Note, table_notes
from dispatch_cli.report.slot_notes import slot_notes
from dispatch_cli.report.table import TableRow, table_row

if TYPE_CHECKING:
    from dispatch_cli.report.advice import Advice

SCHEMA_VERSION = 2


class StepReport(NamedTuple):
    """A kernel that was called. number: from 1. keys: the set that it gets; passes: the set of its redispatch.

    row, canonical: as in `KeyOutcome`. excludes, includes: what it changes on the thread for what it calls.
    chosen_by: the options by which it chose what it passes.
    declared: how it goes on, where its declaration says so.
    """

    number: int
    slot: str
    row: TableRow
    canonical: TableRow | None
    does: Does
    why: Why
    reached: Reached
    python: PythonChoice | None
    keys: DispatchKeySet
    passes: DispatchKeySet | None
    excludes: DispatchKeySet | None
    includes: DispatchKeySet | None
    chosen_by: ChosenBy | None
    declared: Redispatch | None


class ThreadKeys(NamedTuple):
    """Functionalities that the thread includes, or excludes; more, less: than a fresh thread does."""

    keys: tuple[str, ...]
    more: tuple[str, ...]
    less: tuple[str, ...]


class ArgumentReport(NamedTuple):
    """A tensor and its keys."""

    text: str
    keys: DispatchKeySet


class Stage(NamedTuple):
    """One selection, and the steps that it led to.

    generator: the keys of a generator, where it counts. union: the arguments' keys together.
    mask_kind, backend: which fallthrough mask. unmasked, result: the set before
    and after it. outcomes: every key, highest first.
    """

    arguments: tuple[ArgumentReport, ...]
    generator: DispatchKeySet | None
    union: DispatchKeySet
    included: ThreadKeys
    excluded: ThreadKeys
    mask_kind: MaskKind
    backend: str | None
    mask: DispatchKeySet
    unmasked: DispatchKeySet
    result: DispatchKeySet
    outcomes: tuple[KeyOutcome, ...]
    steps: tuple[StepReport, ...]


class ResolveReport(NamedTuple):
    """over: the embedded states that the answer is over; assumed: nobody named them.

    tensors, contexts: as they are read. options: what was given beside tensors.
    keyset: the expression that was given instead of a key set from tensors.
    stopped: after how many steps it was cut short; None when all of it is there. end: None when it was.
    notes: why slots on the way hold what they hold. advice: of a call that fails, why, and what would help.
    alternatives: of a call that fails for options that were assumed, others with which it comes to a kernel.
    """

    universe: str
    over: tuple[str, ...]
    assumed: bool
    operator: str
    schema: str | None
    span: Span | None
    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    options: Options
    keyset: str | None
    stages: tuple[Stage, ...]
    stopped: int | None
    end: End | None
    notes: tuple[Note, ...]
    advice: tuple[Advice, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the call is known to end in an error."""
        return self.end is not None and self.end.kind is EndKind.ERROR

    @property
    def assumed_steps(self) -> tuple[StepReport, ...]:
        """The steps whose kernels are assumed to do what kernels at their keys do by convention."""
        return tuple(step for step in self.steps if step.why is Why.CONVENTION)

    @property
    def steps(self) -> tuple[StepReport, ...]:
        """Every step in order."""
        return tuple(step for stage in self.stages for step in stage.steps)


def resolve_report(
    state: State,
    call: Call,
    *,
    over: tuple[str, ...] = (),
    assumed: bool = False,
    keyset: str | None = None,
    stop_after: int | None = None,
) -> ResolveReport:
    """The report of a call. stop_after: how many steps are shown."""
    dispatcher = state.dispatcher
    stopped = stop_after if stop_after is not None and stop_after < len(call.hops) else None
    hops = call.hops[:stopped]
    header = dispatcher.header(call.operator)
    stages = tuple(_stages(dispatcher, call.operator, hops))
    stale = {entry.canonical.key: entry for entry in dispatcher.stale_entries(call.operator)}
    report = ResolveReport(
        universe=dispatcher.universe.name,
        over=over,
        assumed=assumed,
        operator=str(call.operator),
        schema=header.schema,
        span=header.span,
        tensors=tuple(map(str, call.tensors)),
        contexts=tuple(map(str, call.contexts)),
        options=call.options,
        keyset=keyset,
        stages=stages,
        stopped=stopped,
        end=None if stopped is not None else call.end,
        notes=_notes(dispatcher, call.operator, stages, stale),
    )
    if not report.fails:
        return report
    chosen_by = call.hops[-2].chosen_by if len(call.hops) > 1 else None
    if chosen_by is not None and call.end.error is not None and call.end.error.kind is ErrorKind.NO_KERNEL:
        others = tuple(alternatives(dispatcher, call.operator, chosen_by))
        if others:
            return report._replace(alternatives=others)
    advice = _advice(state, call, keyset is not None, stale)
    advised = {(one.note.kind, key) for one in advice for key in one.note.keys}
    notes = tuple(note for note in report.notes if advised.isdisjoint((note.kind, key) for key in note.keys))
    return report._replace(notes=notes, advice=advice)


def _advice(state: State, call: Call, given: bool, stale: dict[str, StaleEntry]) -> tuple[Advice, ...]:
    """Why a call fails, and what would help. given: it was made with a key set of its own."""
    from dispatch_cli.report.advice import advise
    from dispatch_cli.report.questions import Question, failing_slot

    dispatcher, name = state.dispatcher, call.operator
    notes = slot_notes(
        dispatcher, name, dispatcher.table(name), dispatcher.header(name).schema, failing_slot(call), stale
    )
    return advise(state, name, notes, None if given else Question(call.tensors, call.contexts, call.options))


def _stages(dispatcher: Dispatcher, name: OperatorName, hops: tuple[Hop, ...]) -> Iterator[Stage]:
    stale = {entry.canonical.key: entry for entry in dispatcher.stale_entries(name)}
    parts: list[list[tuple[int, Hop]]] = []
    for number, hop in enumerate(hops, start=1):
        if hop.selection is not None or not parts:
            parts.append([])
        parts[-1].append((number, hop))
    for part in parts:
        selection = part[0][1].selection
        assert selection is not None, "a stage begins with a selection"
        steps = tuple(_step(dispatcher, number, hop) for number, hop in part)
        outcomes = tuple(key_outcomes(dispatcher, name, selection, part, stale))
        yield _stage(dispatcher.universe, selection, outcomes, steps)


def _step(dispatcher: Dispatcher, number: int, hop: Hop) -> StepReport:
    return StepReport(
        number=number,
        slot=hop.slot,
        row=table_row(dispatcher, hop.live, None, None),
        canonical=None if hop.canonical is None else table_row(dispatcher, hop.canonical, None, None),
        does=hop.does,
        why=hop.why,
        reached=hop.reached,
        python=hop.python,
        keys=hop.keyset,
        passes=hop.passes,
        excludes=hop.excludes,
        includes=hop.includes,
        chosen_by=hop.chosen_by,
        declared=None if hop.why is not Why.DECLARED or hop.live.kernel is None else hop.live.kernel.redispatches,
    )


def _stage(
    universe: Universe, selection: Selection, outcomes: tuple[KeyOutcome, ...], steps: tuple[StepReport, ...]
) -> Stage:
    return Stage(
        arguments=tuple(ArgumentReport(one.text, one.keyset) for one in selection.arguments),
        generator=selection.generator,
        union=selection.keyset,
        included=thread_keys(universe, selection.included, universe.default_included),
        excluded=thread_keys(universe, selection.excluded, universe.default_excluded),
        mask_kind=selection.mask_kind,
        backend=selection.backend,
        mask=selection.mask,
        unmasked=selection.unmasked,
        result=selection.result,
        outcomes=outcomes,
        steps=steps,
    )


def thread_keys(universe: Universe, keys: DispatchKeySet, default: Iterable[str]) -> ThreadKeys:
    """What a thread includes, or excludes, beside what a fresh one does."""
    own, usual = functionalities_of(keys), functionalities_of(DispatchKeySet.of(universe, default))
    return ThreadKeys(own, tuple(key for key in own if key not in usual), tuple(key for key in usual if key not in own))


def _notes(
    dispatcher: Dispatcher, name: OperatorName, stages: tuple[Stage, ...], stale: dict[str, StaleEntry]
) -> tuple[Note, ...]:
    """The notes of the table on slots that the call came to, and that it did not get to.

    They are about what the registrations determine, and so not about slots that hold something else.
    """
    shown = dict.fromkeys(
        outcome.key
        for stage in stages
        for outcome in stage.outcomes
        if outcome.status in (KeyStatus.RUNS, KeyStatus.NOT_REACHED) and outcome.key not in stale
    )
    return table_notes(dispatcher, dispatcher.table(name), dispatcher.header(name).schema, shown, stale)
