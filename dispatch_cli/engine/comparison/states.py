"""Everything that is different in another state: operators of either kind, fallbacks, keys, refused declarations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from dispatch_cli.engine.comparison.operators import OperatorChange, compare_operator
from dispatch_cli.engine.comparison.sides import ChangeKind, KernelView, SharedParts, Side, same_kernel
from dispatch_cli.engine.comparison.slots import SlotComparison
from dispatch_cli.engine.state import State
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplPlace
from dispatch_cli.model.problem import Problem

_PLACE = re.compile(r"\S*:\d+")


class FallbackChange(NamedTuple):
    """A backend fallback, at a key that both universes have, that came, went or is another one."""

    key: str
    before: KernelView | None
    after: KernelView | None

    @property
    def change(self) -> ChangeKind:
        """Kind of change, by the sides that have a fallback."""
        return ChangeKind.of(self.before, self.after)


class StatesChange(NamedTuple):
    """Differences between two states.

    operators: those that differ, sorted by name; those that one side has alone among them.
    fallbacks: at keys that both universes have.
    only_old, only_new: the keys that one universe has alone, alias and functionality keys among them.
    refused: the registrations that PyTorch refuses, and that one side has alone.
    """

    old: Side
    new: Side
    operators: tuple[OperatorChange, ...]
    fallbacks: tuple[FallbackChange, ...]
    higher_order: tuple[HigherOrderChange, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    refused: tuple[RefusedChange, ...]

    @property
    def is_empty(self) -> bool:
        """True if nothing is different."""
        return not any((self.operators, self.fallbacks, self.higher_order, self.only_old, self.only_new, self.refused))


def compare_states(old: State, new: State, names: Iterable[str] | None = None) -> StatesChange:
    """Differences of *new* from *old*. names: the operators that are looked at; None for all of both sides.

    Cheap where the states are captured ones: operators are compared as they are written, slots by pairs of patterns.
    """
    bases = old.dispatcher.base, new.dispatcher.base
    files = frozenset(old.declarations.files).intersection(new.declarations.files)
    shared = SharedParts(bases[0] is not None and bases[0] is bases[1], files)
    sides = Side(old, shared), Side(new, shared)
    slots = SlotComparison(*sides)
    chosen = _candidates(*sides, slots) if names is None else names
    changes = (compare_operator(sides[0].view(name), sides[1].view(name), slots) for name in sorted(chosen))
    keys = [side.universe.ids for side in sides]
    return StatesChange(
        *sides,
        tuple(change for change in changes if change is not None),
        _fallbacks(*sides, slots.shared),
        compare_higher_order(old, new),
        tuple(key for key in sides[0].universe.keys_by_id if key not in keys[1]),
        tuple(key for key in sides[1].universe.keys_by_id if key not in keys[0]),
        compare_refused(old, new),
    )


def _candidates(old: Side, new: Side, slots: SlotComparison) -> Collection[str]:
    """The operators that may differ: of one captured state those that one side has touched, if the rest is equal."""
    names = {*old.dispatcher.names(), *new.dispatcher.names()}
    if old.dispatcher.base is None or old.dispatcher.base is not new.dispatcher.base or slots.fallbacks:
        return names
    if old.dispatcher.fallback_bits != new.dispatcher.fallback_bits:
        return names
    touched = {str(name) for side in (old, new) for name in side.dispatcher.present()}
    python = {str(kernel.operator) for side in (old, new) for kernel in side.state.declarations.python_kernels}
    return names & (touched | python)


def _fallbacks(old: Side, new: Side, shared: Iterable[str]) -> tuple[FallbackChange, ...]:
    changes = []
    for key in shared:
        before, after = old.fallbacks.get(key), new.fallbacks.get(key)
        is_same = before is after if before is None or after is None else same_kernel(before, after)
        if not is_same:
            changes.append(FallbackChange(key, before, after))
    return tuple(changes)


class RefusedChange(NamedTuple):
    """A registration that PyTorch refuses, and that is in one state only. change: ADDED or REMOVED."""

    change: ChangeKind
    refused: Problem


def compare_refused(old: State, new: State) -> tuple[RefusedChange, ...]:
    """The refused registrations that one state has alone: those of *old*, then those of *new*.

    Two are the same if they are about the same operator and refused for the same reason; places do not count.
    """
    gone = beyond(old.refused, new.refused, _identity)
    came = beyond(new.refused, old.refused, _identity)
    return (
        *(RefusedChange(ChangeKind.REMOVED, declaration) for declaration in gone),
        *(RefusedChange(ChangeKind.ADDED, declaration) for declaration in came),
    )


def _identity(declaration: Problem) -> tuple[str, str | None, str]:
    """The part that is compared: all but places, also in PyTorch's text."""
    text = declaration.message
    for span in (declaration.span, *(span for _, span in declaration.related)):
        if span is not None:
            text = text.replace(span.file, "")
    return declaration.code, declaration.operator, _PLACE.sub("", text)


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
        return ChangeKind.of(self.before, self.after)


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
    if before is after:
        return None
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
