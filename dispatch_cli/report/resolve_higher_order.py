"""A simulated call of a higher-order operator as a report: each step has a selection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.engine.call.higher_order.trace import AskedHandler, FakeModes, HigherOrderCall, HigherOrderHop, Known
from dispatch_cli.engine.call.trace import Does, End, EndKind
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, HigherOrderTable
from dispatch_cli.model.higher_order import HigherOrderImpl
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED
from dispatch_cli.report.key_outcomes import KeyStatus
from dispatch_cli.report.resolve import ArgumentReport, ThreadKeys, thread_keys


class HigherOrderKeyOutcome(NamedTuple):
    """A key, from the highest to the lowest. entry: what a call finds there; the rest as in `resolve.KeyOutcome`."""

    key: str
    status: KeyStatus
    entry: HigherOrderEntry
    tensors: tuple[int, ...]
    included: bool


class HigherOrderStep(NamedTuple):
    """One step, with the selection that it began with.

    rule: what runs. asked: modes, subclasses or transforms, in turn. needs_gradient, does, known, excludes, takes_off,
    resumes: as in `HigherOrderHop`. The other fields are those of `resolve.Stage`.
    """

    number: int
    key: str
    rule: HigherOrderImpl | None
    entry: HigherOrderEntry | None
    asked: tuple[AskedHandler, ...]
    needs_gradient: bool | None
    does: Does
    known: Known
    excludes: DispatchKeySet | None
    takes_off: str | None
    resumes: bool
    arguments: tuple[ArgumentReport, ...]
    union: DispatchKeySet
    included: ThreadKeys
    excluded: ThreadKeys
    mask: DispatchKeySet
    unmasked: DispatchKeySet
    result: DispatchKeySet
    outcomes: tuple[HigherOrderKeyOutcome, ...]


class ResolveHigherOrderReport(NamedTuple):
    """A call of a higher-order operator.

    deferred: the error that the backward pass would raise; deferred_is_known: False where the declaration leaves open
    whether it comes there or at once. fake_modes: two that contradict each other. The rest is as in `ResolveReport`.
    """

    universe: str
    over: tuple[str, ...]
    assumed: bool
    operator: str
    side_effect: bool
    span: Span | None
    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    steps: tuple[HigherOrderStep, ...]
    stopped: int | None
    end: End | None
    deferred: str | None
    deferred_is_known: bool
    fake_modes: FakeModes | None

    @property
    def fails(self) -> bool:
        """Whether the call is known to end in an error."""
        return self.end is not None and self.end.kind is EndKind.ERROR


def resolve_higher_order_report(
    table: HigherOrderTable,
    call: HigherOrderCall,
    *,
    over: tuple[str, ...] = (),
    assumed: bool = False,
    stop_after: int | None = None,
) -> ResolveHigherOrderReport:
    """The report of a call. stop_after: how many steps are shown."""
    stopped = stop_after if stop_after is not None and stop_after < len(call.hops) else None
    whole = stopped is None
    operator = table.operator
    return ResolveHigherOrderReport(
        universe=table.universe.name,
        over=over,
        assumed=assumed,
        operator=operator.name,
        side_effect=operator.side_effect,
        span=operator.span,
        tensors=tuple(map(str, call.tensors)),
        contexts=tuple(map(str, call.contexts)),
        steps=tuple(_step(table, number, hop) for number, hop in enumerate(call.hops[:stopped], start=1)),
        stopped=stopped,
        end=call.end if whole else None,
        deferred=call.deferred if whole else None,
        deferred_is_known=call.deferred_is_known,
        fake_modes=call.fake_modes if whole else None,
    )


def _step(table: HigherOrderTable, number: int, hop: HigherOrderHop) -> HigherOrderStep:
    universe, selection = table.universe, hop.selection
    return HigherOrderStep(
        number=number,
        key=hop.key,
        rule=hop.rule,
        entry=hop.entry,
        asked=hop.asked,
        needs_gradient=hop.needs_gradient,
        does=hop.does,
        known=hop.known,
        excludes=hop.excludes,
        takes_off=hop.takes_off,
        resumes=hop.resumes,
        arguments=tuple(ArgumentReport(one.text, one.keyset) for one in selection.arguments),
        union=selection.keyset,
        included=thread_keys(universe, selection.included, universe.default_included),
        excluded=thread_keys(universe, selection.excluded, universe.default_excluded),
        mask=selection.mask,
        unmasked=selection.unmasked,
        result=selection.result,
        outcomes=tuple(_outcomes(table, hop)),
    )


def _outcomes(table: HigherOrderTable, hop: HigherOrderHop) -> Iterator[HigherOrderKeyOutcome]:
    universe, selection = table.universe, hop.selection
    slot, parts = universe.slot, universe.runtime_parts
    slot_name = hop.key if hop.key in slot else UNDEFINED
    names = {*(selection.keyset | selection.included), slot_name}
    runs: set[str] = set()
    for key in sorted(names, key=slot.__getitem__, reverse=True):
        functionality = UNDEFINED if key == UNDEFINED else parts[key][0]
        if key == slot_name:
            status = KeyStatus.RUNS
            runs.add(functionality)
        elif selection.excluded.has(functionality) and key != UNDEFINED:
            status = KeyStatus.EXCLUDED
        elif not selection.result.has(functionality):
            status = KeyStatus.FALLS_THROUGH
        else:
            status = KeyStatus.OTHER_BACKEND if functionality in runs else KeyStatus.NOT_REACHED
        yield HigherOrderKeyOutcome(
            key=key,
            status=status,
            entry=table.entry(key),
            tensors=tuple(
                position
                for position, argument in enumerate(selection.arguments, start=1)
                if key != UNDEFINED and argument.keyset.has(key)
            ),
            included=key != UNDEFINED and selection.included.has(functionality),
        )
