"""The table of the operator under the cursor: rows or a grid."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

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
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.blocks import Blocks
from dispatch_cli.explore.views.pane import SWITCHES_OFF, Pane
from dispatch_cli.render.document import Block, Paragraph
from dispatch_cli.render.printed import safe

NARROW = 60
"""Columns below which a sentence needs more lines."""


def _has_key(key: str | None, place: ShownKeys) -> bool:
    return key in place.keys


class TablePane(Pane):
    """The table of the operator under the cursor."""

    TITLE = "Table"
    DEFAULT_CSS = """
    TablePane > #table-sentence { height: 2; padding: 0 2; color: $foreground; background: $panel; }
    TablePane.-narrow-view > #table-sentence { height: 4; }
    """
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
        Binding("x", "switch", "Off", tooltip=SWITCHES_OFF),
        Binding("e", "edit", "Edit", tooltip="Open the place of the kernel in the editor"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(session, id=id)
        self.options = TableOptions()
        self._spot = Spot()
        self._shown: tuple[Any, ...] = ()

    def compose(self) -> ComposeResult:
        yield Blocks(id="table-cells", lists=None)
        yield Static(id="table-sentence", markup=False)

    @property
    def view(self) -> Blocks:
        """The widget with the table."""
        return self.query_one(Blocks)

    @property
    def place(self) -> ShownKeys | None:
        """The row or the cell that the cursor is on."""
        place: ShownKeys | None = self.view.target
        return place

    def open(self, spot: Spot) -> None:
        """Show the table of the operator at a spot, with the cursor at its key."""
        spot = with_key(self.session, spot, self._spot.key)
        self._spot = spot
        shown = (spot.operator, spot.higher_order, self.session.state, self.options)
        if shown == self._shown:
            self.view.point(partial(_has_key, spot.key))
            self._say()
            return
        answer = table_answer(self.session, spot, self.options)
        blocks: Iterable[Block] = [Paragraph(self._nothing(spot))]
        if answer is not None:
            blocks = table_blocks(answer.report, self.session.state.dispatcher.universe, self.options)
        self.view.show(blocks, place_of, keep=True, at=partial(_has_key, spot.key))
        self._shown = shown
        self._say()
        self.answered(answer)

    def on_resize(self) -> None:
        """A narrow view has more lines for the sentence."""
        self.set_class(self.size.width < NARROW, "-narrow-view")

    def on_blocks_laid_out(self, event: Blocks.LaidOut) -> None:
        """A table that was not on the screen is laid out when it is there."""
        event.stop()
        self._say()

    def _say(self) -> None:
        """Say what is under the cursor: cells have only codes, and rows are cut where there is little room."""
        text = "" if self.place is None else safe(sentence_of(self.place, self._spot.key))
        self.query_one("#table-sentence", Static).update(Content(text), layout=False)

    def _nothing(self, spot: Spot) -> str:
        if spot.operator is None and spot.higher_order is None:
            return "Choose an operator."
        if self.options.glob:
            return f"No key matches {self.options.glob}."
        return f"There is no operator {spot.operator or spot.higher_order} now."

    def _change(self, options: TableOptions) -> None:
        self.options = options
        self.open(self._spot)

    # the cursor

    def on_lines_view_moved(self, event: Blocks.Moved) -> None:
        """The slot at the side follows the cursor."""
        event.stop()
        self._go(event.target, None)

    def on_lines_view_opened(self, event: Blocks.Opened) -> None:
        """Deeper: the slot."""
        event.stop()
        self._go(event.target, "slot")

    def _go(self, place: ShownKeys | None, pane: str | None) -> None:
        if place is not None:
            if self._spot.key not in place.keys:
                self._spot = self._spot._replace(key=place.keys[0])
            self._say()
            self.post_message(self.Went(self._spot, pane))

    def action_switch(self) -> None:
        """Switch the registration off that fills the slot where the user is."""
        from dispatch_cli.explore.switch import filling

        registration = filling(self.session, self._spot)
        if registration is None:
            self.notify("There is no registration here to switch off.")
        else:
            self.switch_off(self._spot, registration)

    def action_edit(self) -> None:
        """See the place of the kernel under the cursor in the editor."""
        row = None if self.place is None else self.place.row
        span = getattr(row, "span", None)
        if span is not None:
            self.post_message(self.OpenPlace(span))
        else:
            self.say_no_place()

    # what is shown

    def action_toggle_grid(self) -> None:
        """Rows, or a grid."""
        self._change(self.options._replace(grid=not self.options.grid))

    def action_toggle_every(self) -> None:
        """A row for each slot, or one for adjacent slots with the same answer."""
        self._change(self.options._replace(every=not self.options.every, grid=False))

    def action_filter(self) -> None:
        """Ask for a part of the names of keys."""
        from dispatch_cli.explore.views.screens import Ask

        asked = Ask("Which keys? A part of their names, or a glob; nothing for all keys", self.options.keys)
        self.app.push_screen(asked, self._filter)

    def _filter(self, keys: str | None) -> None:
        if keys is not None:
            self._change(self.options._replace(keys=keys))
