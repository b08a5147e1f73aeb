"""Differences from another version, or from the state that the files start from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.diff import document as diff_documents
from dispatch_cli.answers.diff.rows import DiffSlots
from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.differences import ComparedStates, Old, diff_answer, old_of, old_state, olds
from dispatch_cli.explore.background import Step, snapshot
from dispatch_cli.explore.session import PaneAnswer, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, TableBlock

_WAYS = "t shows the differences of an operator whole."
_OLDS: list[Column[Old]] = [Column("State", lambda row, _: row.name)]


class DifferencesPane(Pane):
    """All that is different, or what is in an operator."""

    TITLE = "Changes"
    FILTER = "operator, what is different"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "old", "Compare with", tooltip="Choose the state to compare with"),
        Binding("t", "this", "Operator", tooltip="Show the differences of this operator whole, or all"),
    ]
    _chosen: Old | None = None
    _of_operator = False
    _compared_for: tuple[State, Old] | None = None
    _states: ComparedStates | None = None

    @property
    def old(self) -> Old | None:
        """State that this one is compared with."""
        return old_of(self.session, self._chosen)

    def depends(self) -> tuple[Any, ...]:
        return self.old, self.spot._replace(key=None) if self._of_operator else None

    def begin(self) -> None:
        """Compare in a thread."""
        old, state, (*_, spot) = self.old, self.session.state, self.depends()
        if old is None:
            self.take(None)
            return
        known = self._states if self._compared_for == (state, old) else None
        new, original = (state, state) if known else (snapshot(state), snapshot(self.session.original))
        self._compared_for = None

        def find(step: Step) -> PaneAnswer | None:
            if known is None:
                step(f"Loading {old.name}…")
            self._states = known or ComparedStates(old_state(self.session, old, original), new)
            self._compared_for = state, old
            step(f"Comparing with {old.name}…")
            return diff_answer(self.session, old, spot, self._states)

        self.search(find, f"Comparing with {old.name}…")

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        assert self._states is not None, "they were compared"
        universes = (self._states.old.dispatcher.universe, self._states.new.dispatcher.universe)
        return diff_documents.document(answer.report, universes=universes, each=self._of_operator, ways=_WAYS)

    def nothing(self) -> str:
        if self.old is None:
            return "There is nothing to compare with."
        return "`diff` has no arguments for this: it compares files and embedded states."

    def opens(self, item: Any) -> Any:
        """The place, or the operator or slot, of a row; of a group, those of its first row."""
        if isinstance(item, tuple) and item and isinstance(item[-1], list):
            item = item[-1][0]
        return super().opens(item) or opened_by(item, self.session.state)

    # keys

    def action_this(self) -> None:
        """Show the differences of the operator, or all."""
        self._of_operator = not self._of_operator
        self.again()

    def action_old(self) -> None:
        """Choose what to compare with."""
        table = TableBlock(_OLDS, olds(self.session))
        self.app.push_screen(Choose("Compare with", table, self.old), self._take_old)

    def _take_old(self, old: Old | None) -> None:
        if old is not None:
            self._chosen = old
            self.again()


def opened_by(item: Any, state: State) -> Span | Spot | None:
    """Target of a row of a comparison: its place, else its operator or slot, if the state has it."""
    if isinstance(item, DiffSlots):
        return Spot(OperatorName.parse(item.operators[0].operator), item.keys[0])
    if isinstance(place := getattr(item, "span", None), Span):
        return place
    name, key = getattr(item, "operator", None), getattr(item, "key", None)
    if isinstance(name, str) and OperatorName.parse(name) in state.dispatcher:
        return Spot(OperatorName.parse(name), key if key in state.dispatcher.universe.slot else None)
    return None
