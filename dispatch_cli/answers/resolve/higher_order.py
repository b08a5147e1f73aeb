"""A simulated call of a higher-order operator as a report: each step has a selection of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.keys.outcomes import KeyOutcome, ThreadKeys, Visit, key_outcomes, thread_keys
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import HigherOrderRow
from dispatch_cli.answers.table.higher_order_report import row_of
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall, HigherOrderHop
from dispatch_cli.engine.call.trace import End, EndKind
from dispatch_cli.engine.python.higher_order import HigherOrderTable
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED


class HigherOrderStep(NamedTuple):
    """One step, with the selection that it begins with. number: from 1. entry: what ``resolve_key`` finds, where asked.

    included, excluded, keys: as in `resolve.Stage`.
    """

    number: int
    hop: HigherOrderHop
    entry: HigherOrderRow | None
    included: ThreadKeys
    excluded: ThreadKeys
    keys: tuple[KeyOutcome[HigherOrderRow], ...]


@dataclass(frozen=True, slots=True)
class ResolveHigherOrderReport(StartsFrom):
    """A call of a higher-order operator.

    backward_error: what the backward pass would raise; backward_error_is_certain: False where the declaration leaves
    open whether it comes there or at once. The rest is as in `ResolveReport`.
    """

    REPORT: ClassVar[str] = "resolve-higher-order"

    operator: str
    side_effect: bool
    span: Span | None
    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    end: End
    backward_error: str | None
    backward_error_is_certain: bool | None
    steps: tuple[HigherOrderStep, ...]

    @property
    def fails(self) -> bool:
        """True if the call is known to end in an error."""
        return self.end.kind is EndKind.ERROR


def resolve_higher_order_report(
    state: State, operator: HigherOrderOperator, call: HigherOrderCall
) -> ResolveHigherOrderReport:
    """The report of a call."""
    table = state.higher_order_table(operator)
    return ResolveHigherOrderReport(
        *starts_from(state),
        operator=operator.name,
        side_effect=operator.side_effect,
        span=operator.span,
        tensors=tuple(map(str, call.tensors)),
        contexts=tuple(map(str, call.contexts)),
        end=call.end,
        backward_error=call.deferred,
        backward_error_is_certain=None if call.deferred is None else call.deferred_is_known,
        steps=tuple(_step(table, number, hop) for number, hop in enumerate(call.hops, start=1)),
    )


def _step(table: HigherOrderTable, number: int, hop: HigherOrderHop) -> HigherOrderStep:
    universe, selection = table.universe, hop.selection
    visit = Visit(number, hop.key if hop.key in universe.slot else UNDEFINED, selection.result)
    return HigherOrderStep(
        number=number,
        hop=hop,
        entry=None if hop.entry is None else row_of(hop.entry),
        included=thread_keys(selection.included, universe.default_included),
        excluded=thread_keys(selection.excluded, universe.default_excluded),
        keys=tuple(key_outcomes(selection, [visit], lambda key: row_of(table.entry(key)))),
    )
