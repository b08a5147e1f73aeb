"""The slots that give another answer, grouped by keys, answers and causes."""

from __future__ import annotations

from dispatch_cli.answers.diff.parts import DiffChoice, kernel_of
from dispatch_cli.answers.diff.rows import DiffKernel, DiffSlotOperator, DiffSlots
from dispatch_cli.engine.comparison.causes import Answer, CauseKind, SlotCause
from dispatch_cli.engine.comparison.operators import OperatorChange
from dispatch_cli.engine.comparison.sides import OperatorView, Side
from dispatch_cli.engine.comparison.slots import SlotChange
from dispatch_cli.engine.comparison.states import StatesChange

_OLD = frozenset((CauseKind.REMOVED, CauseKind.FALLBACK_REMOVED, CauseKind.WAS_STALE))
"""The causes that the old state has."""
_ORDERS = frozenset((CauseKind.LEFT_STALE, CauseKind.WAS_STALE))
_FALLBACKS = frozenset((CauseKind.FALLBACK_ADDED, CauseKind.FALLBACK_REMOVED, CauseKind.FALLBACK_REPLACED))


def slot_groups(change: StatesChange, chosen: DiffChoice) -> tuple[DiffSlots, ...]:
    """The groups, those with the most slots first."""
    groups: dict[SlotChange, list[DiffSlotOperator]] = {}
    filler = _SlotRows(change)
    for operator in change.operators:
        for slots in operator.slots:
            shown = slots
            if chosen.keys is not None:
                shown = slots._replace(keys=tuple(key for key in slots.keys if key in chosen.keys))
            if shown.keys:
                groups.setdefault(shown, []).append(filler.row(operator, shown))
    rows = [DiffSlots(*slots, tuple(operators)) for slots, operators in groups.items()]
    return tuple(sorted(rows, key=lambda row: -len(row.keys) * len(row.operators)))


class _SlotRows:
    """Puts kernels to answers and causes."""

    def __init__(self, change: StatesChange) -> None:
        self._old, self._new = change.old, change.new

    def row(self, operator: OperatorChange, slots: SlotChange) -> DiffSlotOperator:
        before, after = operator.before, operator.after
        assert before is not None, "slots are compared of operators that both sides have"
        assert after is not None, "slots are compared of operators that both sides have"
        return DiffSlotOperator(
            operator.name,
            _answered(self._old, before, slots.before, slots.keys[0]),
            _answered(self._new, after, slots.after, slots.keys[0]),
            tuple(self._caused(cause, slots.keys[0], before, after) for cause in slots.causes),
        )

    def _caused(self, cause: SlotCause, key: str, before: OperatorView, after: OperatorView) -> DiffKernel | None:
        side, view = (self._old, before) if cause.kind in _OLD else (self._new, after)
        if cause.kind in _FALLBACKS:
            return kernel_of(side, side.fallbacks[key])
        if cause.kind in _ORDERS:
            return kernel_of(side, view.stale[key].cause)
        return None if cause.kind is CauseKind.UNIVERSE else kernel_of(side, view.kernels[cause.key][0])


def _answered(side: Side, view: OperatorView, answer: Answer, key: str) -> DiffKernel | None:
    if answer.source is None:
        return None
    stale = view.stale.get(key)
    kernel = view.kernels[answer.source][0] if stale is None else stale.kernel
    return None if kernel is None else kernel_of(side, kernel)
