"""The embedded versions that a history goes through, each opened as far as it is needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dispatch_cli import bases
from dispatch_cli.engine.comparison.sides import OperatorView, Side
from dispatch_cli.engine.comparison.slots import SlotComparison
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State

if TYPE_CHECKING:
    from dispatch_cli.bases import Base
    from dispatch_cli.engine.comparison.renames import Rename
    from dispatch_cli.model.higher_order import HigherOrderOperator


class Versions:
    """Embedded states by their numbers in *names*, the oldest first."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._sides: dict[int, Side] = {}
        self._slots: dict[int, SlotComparison] = {}
        self._views: tuple[str, dict[int, OperatorView]] = ("", {})

    def base(self, number: int) -> Base:
        """A state as it is embedded."""
        return bases.load(self.names[number])

    def side(self, number: int) -> Side:
        """A state as it is compared."""
        if number not in self._sides:
            base = self.base(number)
            self._sides[number] = Side(State(Dispatcher(base.universe, base=base), source=base))
        return self._sides[number]

    def slots(self, number: int) -> SlotComparison:
        """The comparison of the slots of a state with those of the one before."""
        if number not in self._slots:
            self._slots[number] = SlotComparison(self.side(number - 1), self.side(number))
        return self._slots[number]

    def view(self, number: int, name: str) -> OperatorView:
        """An operator that the state has; of the last operator that was asked for, the views are kept."""
        if self._views[0] != name:
            self._views = (name, {})
        views = self._views[1]
        if number not in views:
            operator_view = self.side(number).view(name)
            assert operator_view is not None, f"{self.names[number]} has no {name}"
            views[number] = operator_view
        return views[number]

    def renames(self, number: int, name: str) -> tuple[Rename, ...]:
        """Probable renames of an operator that only one of a version and the one before has."""
        from dispatch_cli.engine.comparison.renames import renames

        return renames(self.side(number - 1), self.side(number), name)

    def higher_order(self, number: int) -> dict[str, HigherOrderOperator]:
        """The higher-order operators of a state, by name."""
        return self._higher_order[number]

    @cached_property
    def _higher_order(self) -> list[dict[str, HigherOrderOperator]]:
        all_of = (self.base(number).higher_order_operators for number in range(len(self.names)))
        return [{operator.name: operator for operator in operators} for operators in all_of]

    def with_operator(self, name: str, higher_order: bool = False) -> tuple[bool, ...]:
        """True for each of the states that has an operator."""
        if higher_order:
            return tuple(name in operators for operators in self._higher_order)
        return tuple(_has(self.base(number).names, name) for number in range(len(self.names)))

    def operators(self) -> list[str]:
        """The names of all operators that some state has, sorted."""
        return sorted({name for number in range(len(self.names)) for name in self.base(number).names})

    def higher_order_operators(self) -> list[str]:
        """The names of all higher-order operators that some state has, sorted."""
        return sorted({name for operators in self._higher_order for name in operators})


def _has(names: Sequence[str], name: str) -> bool:
    """True if a sorted sequence has a name."""
    place = bisect_left(names, name)
    return place < len(names) and names[place] == name
