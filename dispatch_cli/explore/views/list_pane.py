"""A view with a list, a filter over it, and the part under the cursor in detail below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from dispatch_cli.answers.shared.selection import has_words
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.blocks import Blocks, Rows
from dispatch_cli.explore.views.lines_view import LinesView
from dispatch_cli.explore.views.pane import SOON, Pane
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, TableBlock
from dispatch_cli.render.printed import safe


class ListPane(Pane):
    """A list with a filter, and details.

    WORDS: what the filter can be asked for.
    """

    WORDS: ClassVar[str] = "words"
    DEFAULT_CSS = """
    ListPane > .top { dock: top; height: auto; }
    ListPane .head { height: auto; max-height: 4; padding: 0 1; }
    ListPane Input { background: $surface; }
    ListPane Input:focus { background: $boost; }
    ListPane > Rows { height: auto; max-height: 50%; min-height: 4; }
    ListPane > #detail { height: 1fr; border-top: solid $panel; }
    ListPane.-no-list > #detail { height: 1fr; }
    ListPane.-no-list > Rows, ListPane.-no-list Filter { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter", tooltip="Filter the rows: type words that they have"),
        Binding("escape,backspace", "back", "Back from the filter, which is cleared, or the details", show=False),
        Binding("e", "edit_place", "Edit", tooltip="Open the place of the row in the editor"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self.spot = Spot()
        self._following: Timer | None = None
        self._shown_remark = ""
        self.head = Static(classes="head", markup=False)
        self.filter = Input(placeholder=f"f: filter by {self.WORDS}", compact=True)
        self.list = Rows(id="list")
        self.detail = Blocks(id="detail")

    def compose(self) -> ComposeResult:
        yield self.list  # which gets the keys first
        yield self.detail
        with Vertical(classes="top"):
            yield self.head
            yield self.filter

    # what a view defines

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The list of rows."""
        raise NotImplementedError

    def rows(self) -> Sequence[Any]:
        """All rows, before the filter."""
        raise NotImplementedError

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        raise NotImplementedError

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """The line above the list. shown: how many of the rows are; count: how many there are."""
        raise NotImplementedError

    def details(self, row: Any) -> Iterable[Block]:
        """Blocks about a row. row: None if the list is empty."""
        raise NotImplementedError

    def opens(self, item: Any) -> Any:  # noqa: ARG002
        """Target of a part of the details: a place, a spot, or something of the view's own."""
        return None

    def place_of(self, row: Any) -> Span | None:  # noqa: ARG002
        """The place that ``e`` opens for a row."""
        return None

    def chosen_rows(self) -> Iterable[str]:
        """Rows that the keys of the view choose, in words; nothing for all."""
        return ()

    @property
    def remark(self) -> str:
        """The rows that are chosen here, and not by the command."""
        words = self.filter.value.strip()
        chosen = [*self.chosen_rows(), *([f"with “{words}”"] if words else [])]
        return f"(prints all rows; here only those {', '.join(chosen)})" if chosen and self.answer is not None else ""

    # the list

    def refill(self, keep: bool = False) -> None:
        """Show the rows anew. keep: the cursor stays on its row, if that is still there."""
        before = self.list.target
        words = self.filter.value.strip()
        rows = self.rows()
        shown = [row for row in rows if has_words(self.words_of(row), words)] if words else [*rows]
        same = shown.index(before) if keep and before in shown else 0
        with self.prevent(LinesView.Moved):
            self.list.show(self.table(shown))
            self.list.move_to(same)
        self.say(*self.title(len(shown), len(rows)))
        if self.remark != self._shown_remark:
            self._shown_remark = self.remark
            self.answered(self.answer)
        if shown and self.list.target is None:  # it has no lines before it has a width
            self.set_timer(SOON, self.show_details)
        else:
            self.show_details()

    def say(self, *parts: str | tuple[str, str]) -> None:
        """Set the line above the list. parts: texts, some with a style; ``\\n`` by itself begins a line."""
        texts = (_safe(part) if isinstance(part, str) else (safe(part[0]), part[1]) for part in parts)
        self.head.update(Content.assemble(*texts))

    def show_details(self) -> None:
        """Show the details of the row under the cursor."""
        row = self.list.target
        self.detail.show(self.details(row), self.opens)

    @on(LinesView.Moved, "#list")
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(SOON, self.show_details)

    @on(LinesView.Opened, "#list")
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.chosen(event.target)

    @on(LinesView.Opened, "#detail")
    def _part_opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.go_to(event.target)

    @on(Input.Changed)
    def _filtered(self, event: Input.Changed) -> None:
        event.stop()
        self.refill(keep=True)

    def spot_at(self, row: Any) -> Spot | None:  # noqa: ARG002
        """The operator or the slot that a row is about; None for what has none."""
        return None

    def chosen(self, row: Any) -> None:
        """A row was opened: go to what it is about, else the keys go to its details."""
        spot = self.spot_at(row)
        if spot is None:
            self.detail.focus()
        else:
            self.go_to(spot)

    def go_to(self, target: Any) -> None:
        """Open a place in the editor, or go to a spot."""
        if isinstance(target, Span):
            self.post_message(self.OpenPlace(target))
        elif isinstance(target, Spot):
            self.post_message(self.Went(target, "table" if target.key is None else "slot"))

    def action_filter(self) -> None:
        """The keys go to the filter."""
        self.filter.focus()

    @on(Input.Submitted)
    def _filter_left(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.focus()

    def action_back(self) -> None:
        """From the filter, which is cleared, or the details to the list; from there the key is the application's."""
        if not (self.filter.has_focus or self.detail.has_focus):
            raise SkipAction
        if self.filter.has_focus:
            self.filter.value = ""
        self.list.focus()

    def action_edit_place(self) -> None:
        """Open the place under the cursor, of the details if they have the keys."""
        target = self.detail.target if self.detail.has_focus else None
        place = target if isinstance(target, Span) else None
        if place is None and self.list.target is not None:
            place = self.place_of(self.list.target)
        if place is None:
            self.say_no_place()
        else:
            self.post_message(self.OpenPlace(place))


def _safe(text: str) -> str:
    return text if text == "\n" else safe(text)
