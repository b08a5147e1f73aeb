"""Differences between the higher-order operators of two states."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.comparison.kind import ChangeKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplPlace


class HigherOrderImplChange(NamedTuple):
    """An implementation that came, went or is another one. before, after: None where there is none."""

    place: ImplPlace
    before: HigherOrderImpl | None
    after: HigherOrderImpl | None


class HigherOrderChange(NamedTuple):
    """A higher-order operator that differs. before, after: None where a side does not have it.

    impls: of one that both have. side_effect, mutates: both values, where they differ.
    """

    name: str
    before: HigherOrderOperator | None
    after: HigherOrderOperator | None
    impls: tuple[HigherOrderImplChange, ...] = ()
    side_effect: tuple[bool, bool] | None = None
    mutates: tuple[bool, bool] | None = None

    @property
    def change(self) -> ChangeKind:
        """Kind of change, by the sides that have the operator."""
        if self.before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if self.after is None else ChangeKind.REPLACED


def compare_higher_order(old: State, new: State) -> tuple[HigherOrderChange, ...]:
    """The higher-order operators that differ, by name."""
    before, after = ({operator.name: operator for operator in state.higher_order_operators} for state in (old, new))
    names = sorted({*before, *after})
    changes = (compare_higher_order_operator(name, before.get(name), after.get(name)) for name in names)
    return tuple(change for change in changes if change is not None)


def compare_higher_order_operator(
    name: str, before: HigherOrderOperator | None, after: HigherOrderOperator | None
) -> HigherOrderChange | None:
    """Differences between two versions of a higher-order operator; None where there are none."""
    if before is None or after is None:
        return HigherOrderChange(name, before, after)
    old, new = ({ImplPlace(impl.kind, impl.name): impl for impl in side.impls} for side in (before, after))
    places = dict.fromkeys((*old, *new))
    impls = tuple(
        HigherOrderImplChange(place, old.get(place), new.get(place))
        for place in places
        if _content(old.get(place)) != _content(new.get(place))
    )
    effects, mutates = (before.side_effect, after.side_effect), (before.mutates, after.mutates)
    change = HigherOrderChange(
        name,
        before,
        after,
        impls,
        None if effects[0] is effects[1] else effects,
        None if mutates[0] is mutates[1] else mutates,
    )
    return change if any(change[3:]) else None


def _content(impl: HigherOrderImpl | None) -> HigherOrderImpl | None:
    """The part that is compared: all but the place."""
    return None if impl is None else impl._replace(span=None)
