"""The table of the operator under the cursor: rows or a grid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.table.wording import BOTH, CHANGED, STALE
from dispatch_cli.explore.answers.table import (
    ShownKeys,
    TableOptions,
    place_of,
    sentence_of,
    table_answer,
    table_blocks,
    with_key,
)
from dispatch_cli.explore.session import PaneAnswer, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.document import Block, Paragraph


class TablePane(Pane):
    """The table of the operator under the cursor."""

    TITLE = "Table"
    LISTS = None
    BELOW = True
    FILTER = "keys"
    MARKS = (
        (CHANGED, "the files, or changes on trial, make the slot differ from the base"),
        (STALE, "stale: a call runs something else than the registrations imply"),
        (BOTH, "stale, and different from the base"),
        ("A … B (12)", "12 slots with the same answer: the first is A, the last is B"),
        ("-", "no kernel"),
        ("K M …", "in the grid: rules, which are named below it"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "toggle_grid", "Grid", tooltip="Show the table as rows, or as a grid"),
        Binding("a", "toggle_every", "All slots", tooltip="A row for each slot, or one for slots with the same answer"),
        Binding("f", "filter", "Filter", tooltip="Show only some keys: a part of their names, or a glob"),
        Binding(
            "x",
            "switch",
            "Off",
            tooltip="Switch the registration that fills the slot off; a backend fallback, for all operators",
        ),
    ]
    options = TableOptions()

    def depends(self) -> tuple[Any, ...]:
        return self.spot.operator, self.spot.higher_order, self.options

    def open(self, spot: Spot) -> None:
        """Show the table of the operator at a spot, with the cursor at its key."""
        super().open(with_key(self.session, spot, self.spot.key))

    def begin(self) -> None:
        self.take(table_answer(self.session, self.spot, self.options))

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        return table_blocks(answer.report, self.session.state.dispatcher.universe, self.options)

    def nothing(self) -> str:
        if self.spot.operator is None and self.spot.higher_order is None:
            return "Choose an operator."
        if self.options.glob:
            return f"No key matches {self.options.glob}."
        return f"There is no operator {self.spot.operator or self.spot.higher_order} now."

    def opens(self, item: Any) -> ShownKeys | None:
        return place_of(item)

    def is_here(self, target: Any) -> bool:
        """The cursor follows the slot."""
        return self.spot.key in target.keys

    def place_of(self, target: Any) -> Any:
        """The place of the kernel."""
        return None if target is None else getattr(target.row, "span", None)

    def described(self, target: Any) -> Iterable[Block]:
        """Say what is under the cursor: cells have only codes, and rows are cut where there is little room."""
        return () if target is None else [Paragraph(sentence_of(target, self.spot.key))]

    def moved(self, target: Any) -> None:
        """The slot at the side follows the cursor."""
        self._go(target, None)

    def go_to(self, target: Any) -> None:
        """Deeper: the slot."""
        self._go(target, "slot")

    def _go(self, place: ShownKeys, pane: str | None) -> None:
        if self.spot.key not in place.keys:
            self.spot = self.spot._replace(key=place.keys[0])
        self.went(self.spot, pane)

    def action_switch(self) -> None:
        """Switch the registration off that fills the slot where the user is."""
        from dispatch_cli.explore.switch import filling

        registration = filling(self.session, self.spot)
        if registration is None:
            self.notify("There is no registration here to switch off.")
        else:
            self.switch_off(self.spot, registration)

    # what is shown

    def action_toggle_grid(self) -> None:
        """Rows, or a grid."""
        self._change(self.options._replace(grid=not self.options.grid))

    def action_toggle_every(self) -> None:
        """A row for each slot, or one for adjacent slots with the same answer."""
        self._change(self.options._replace(every=not self.options.every, grid=False))

    @property
    def is_filtered(self) -> bool:
        return bool(self.options.keys)

    def filter(self, words: str | None) -> None:
        """Show only some keys, which the command can choose, too."""
        if words is not None:
            self._change(self.options._replace(keys=words))

    def _change(self, options: TableOptions) -> None:
        self.options = options
        self.again()
