"""The list of operators: any number of rows, of which only those on the screen are made."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from dispatch_cli.answers.shared.operator_list import ListedOperator
from dispatch_cli.explore.catalogue import OWN, TRIED, Catalogue, Marked, namespace_of
from dispatch_cli.explore.fuzzy import matched
from dispatch_cli.explore.sized_scroll_view import SizedScrollView
from dispatch_cli.model.severity import Severity
from dispatch_cli.render.text_safety import safe

_MARKS = 3
"""The columns before a name."""
_OWN_STYLE, _TRIED_STYLE, _DIM = "bold $text-success", "bold $text-warning", "$text-muted"
_FOUND_STYLES = {Severity.ERROR: "$text-error", Severity.WARNING: "$text-warning", Severity.INFO: "$text-muted"}


class OperatorList(SizedScrollView):
    """The operators that a query finds, best first; one has the cursor."""

    DEFAULT_CSS = "OperatorList { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    BLURRED_CURSOR = "reverse"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Cursor up", show=False),
        Binding("down,j", "move(1)", "Cursor down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Cursor up by a page", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Cursor down by a page", show=False),
        Binding("home,g", "end(-1)", "Cursor to the first line", show=False),
        Binding("end,G", "end(1)", "Cursor to the last line", show=False),
        Binding("enter,right,l", "choose", "Open", tooltip="Open the operator in the view beside"),
        Binding("f", "filter", "Filter", tooltip="Filter the list: the next of the marks above it"),
        Binding("left,h", "fold", "Fold the namespace of the operator, or unfold it", show=False),
        Binding("H", "fold_all", "Fold all namespaces, or unfold them", show=False),
    ]
    can_focus = True

    class OperatorOpened(Message):
        """An operator is to be opened. key: at its slot; None for where the user was."""

        def __init__(self, entry: ListedOperator, key: str | None) -> None:
            super().__init__()
            self.entry = entry
            self.key = key

    class FilterAsked(Message):
        """The next filter is to be taken."""

    def __init__(self, catalogue: Catalogue, moved: Callable[[ListedOperator], object]) -> None:
        """moved: is called when the cursor is at another operator. A message would arrive after the next frame."""
        super().__init__()
        self.catalogue = catalogue
        self._moved = moved
        self.query_text = ""
        self.marked = Marked.ALL
        self.folded: frozenset[str] = frozenset()
        self.found: Sequence[int] = catalogue.find("")
        self.near = ""  # what comes first where the query finds nothing good, in a few words
        self.cursor = 0
        self._width = 0
        self._strips: dict[int, Strip] = {}

    @property
    def entry(self) -> ListedOperator | None:
        """The operator under the cursor."""
        return self.catalogue.entries[self.found[self.cursor]] if self.found else None

    def on_mount(self) -> None:
        self._resize_content()

    def sized(self) -> None:
        self._resize_content()
        self._show_cursor()

    def notify_style_update(self) -> None:
        """textual's: the theme has changed."""
        super().notify_style_update()
        self._strips.clear()

    def watch_has_focus(self, has_focus: bool) -> None:
        """textual's: the cursor looks different."""
        self._strips.pop(self.cursor, None)
        super().watch_has_focus(has_focus)

    def search(self, query: str, marked: Marked) -> None:
        """Show what a query and a filter find. The cursor goes to the best; without a query it stays where it is."""
        before = self.found[self.cursor] if self.found else None
        asked = query != self.query_text
        self.query_text, self.marked = query, marked
        self._find()
        stays = before is not None and not (asked and query.strip()) and before in self.found
        self.cursor = self.found.index(before) if stays and before is not None else 0
        self._strips.clear()
        self._resize_content()
        self.scroll_to(y=0, animate=False) if not stays else None
        self._show_cursor()
        self.refresh()
        if self.entry is not None and (not self.found or self.found[self.cursor] != before):
            self._moved(self.entry)

    def _find(self) -> None:
        self.found, self.near = self.catalogue.search(self.query_text, self.marked)
        if self.folded and not self.query_text.strip():
            self.found = [*self.catalogue.folded(self.found, self.folded)]

    def _is_folded(self, entry: ListedOperator) -> bool:
        return namespace_of(entry.name) in self.folded and not self.query_text.strip()

    def renew(self, catalogue: Catalogue) -> None:
        """Show the operators of another state; the cursor stays on its operator, where that is there."""
        entry, self.catalogue = self.entry, catalogue
        self._find()
        number = None if entry is None else catalogue.numbers.get(entry)
        self.cursor = self.found.index(number) if number is not None and number in self.found else 0
        self._strips.clear()
        self._resize_content()
        self._show_cursor()
        self.refresh()

    def marks_changed(self, names: frozenset[str] | None = None) -> None:
        """The catalogue's marks are other ones now, of the operators of these names; None for all."""
        if self.marked is not Marked.ALL:
            self.search(self.query_text, self.marked)
            return
        if names is None:
            self._strips.clear()
            self.refresh()
            return
        for row in [row for row in self._strips if self.catalogue.entries[self.found[row]].name in names]:
            del self._strips[row]
        # the screen can show rows of which no strip is kept
        top = round(self.scroll_y)
        for row in range(top, min(top + self.size.height, len(self.found))):
            if self.catalogue.entries[self.found[row]].name in names:
                self.refresh_lines(row, 1)

    def show(self, number: int) -> None:
        """Move the cursor to an operator, without a message; if the search hides it, nothing happens."""
        if number in self.found:
            self._go(self.found.index(number))

    def begin_with(self, marked: Marked) -> None:
        """Begin with the operators of a mark."""
        self.marked = marked
        self._find()

    def action_move(self, by: int) -> None:
        self._user_goes(self.cursor + by)

    def action_page(self, pages: int) -> None:
        self._user_goes(self.cursor + pages * max(1, self.size.height - 1))

    def action_end(self, direction: int) -> None:
        self._user_goes(len(self.found) - 1 if direction > 0 else 0)

    def action_fold(self) -> None:
        if self.entry is not None:
            self._fold(self.folded ^ {namespace_of(self.entry.name)})

    def action_fold_all(self) -> None:
        self._fold(frozenset() if self.folded else frozenset(self.catalogue.namespaces))

    def _fold(self, folded: frozenset[str]) -> None:
        """Fold these namespaces, and no others; the cursor stays in its own."""
        entry, self.folded = self.entry, folded
        self.renew(self.catalogue)
        at = namespace_of(entry.name) if entry is not None else ""
        names = (namespace_of(self.catalogue.entries[number].name) for number in self.found)
        if self.entry != entry and at in self.folded:
            self._user_goes(next(row for row, name in enumerate(names) if name == at))

    def action_choose(self) -> None:
        if self.entry is not None and self._is_folded(self.entry):
            self.action_fold()
        elif self.entry is not None:
            key = self.catalogue.key_in(self.query_text)
            self.post_message(self.OperatorOpened(self.entry, key).set_sender(self))

    def action_filter(self) -> None:
        self.post_message(self.FilterAsked())

    def on_click(self, event: Click) -> None:
        row = event.y + round(self.scroll_y)
        if row < len(self.found):
            again = row == self.cursor and event.chain > 1
            self._user_goes(row)
            if again:
                self.action_choose()

    def _user_goes(self, row: int) -> None:
        before = self.cursor
        self._go(max(0, min(row, len(self.found) - 1)))
        if self.cursor != before and self.entry is not None:
            self._moved(self.entry)

    def _go(self, row: int) -> None:
        if row == self.cursor:
            return
        rows = self.cursor, row
        self.cursor = row
        for number in rows:
            self._strips.pop(number, None)
            self.refresh_lines(number, 1)
        self._show_cursor()

    def _show_cursor(self) -> None:
        if self.size.height and self.found:
            region = Region(0, self.cursor, 1, 1)
            self.scroll_to_region(region, animate=False, force=True, x_axis=False)

    def _resize_content(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width = width
            self._strips.clear()
        self.virtual_size = Size(width, len(self.found))

    def render_line(self, y: int) -> Strip:
        """textual's: one line of the screen."""
        row = y + round(self.scroll_y)
        if row >= len(self.found):
            return self._said(y)
        strip = self._strips.get(row)
        if strip is None:
            if len(self._strips) > 2_000:
                self._strips.clear()
            strip = self._strips[row] = self._make_row(row)
        return strip

    def _said(self, y: int) -> Strip:
        query, so_marked = self.query_text.strip(), self.marked is not Marked.ALL
        lines = [f"  no operator {'so marked ' * so_marked}matches" if query else "  no operator so marked"]
        lines += ["  f in the list: other marks"] if query and so_marked else []
        text = "" if self.found else dict(enumerate(lines)).get(y, "")
        strip = Strip([Segment(text, self.look(_DIM))])
        return strip.adjust_cell_length(self.scrollable_content_region.width, self.look())

    def _make_row(self, row: int) -> Strip:
        width = self.scrollable_content_region.width
        entry, is_here = self.catalogue.entries[self.found[row]], row == self.cursor
        segments = [
            Segment(OWN if entry.name in self.catalogue.own else " ", self._style(is_here, _OWN_STYLE)),
            Segment(TRIED if entry.name in self.catalogue.tried else " ", self._style(is_here, _TRIED_STYLE)),
            Segment(" ", self._style(is_here)),
        ]
        counts = [
            Segment(text, self._style(is_here, _DIM if severity is None else _FOUND_STYLES[severity]))
            for text, severity in self.catalogue.counts(entry)
        ]
        taken = sum(len(count.text) for count in counts)
        segments += self._letters(row, is_here, max(4, width - _MARKS - taken))
        strip = Strip(segments)
        strip = strip.adjust_cell_length(max(0, width - taken), self._style(is_here))
        return Strip([*strip, *counts]).adjust_cell_length(width, self._style(is_here))

    def _style(self, is_here: bool, style: str = "") -> Style:
        """The style of a part of a row. is_here: the cursor is there, on whose colour no other one can be read."""
        return self.look(self.cursor_style) if is_here else self.look(*filter(None, (style,)))

    def _letters(self, row: int, is_here: bool, room: int) -> list[Segment]:
        """The name; where it is too long, without a part."""
        entries = self.catalogue.entries
        entry = entries[self.found[row]]
        name = entry.name
        if self._is_folded(entry):
            namespace = namespace_of(name)
            return [Segment(f"{namespace}::  {self.catalogue.namespaces[namespace]:,}"[:room], self._style(is_here))]
        hits = set(matched(name, self.query_text)) if self.query_text.strip() else set()
        dim = self._style(is_here, _DIM if entry.higher_order else "")
        hit_style = dim + Style(bold=True, underline=True)
        return [Segment(text, hit_style if hit else dim) for text, hit in _pieces(name, room, hits)]


def _pieces(name: str, room: int, hits: Container[int]) -> Iterator[tuple[str, bool]]:
    """A name in pieces, safe to print; of each, whether its letters are among those at *hits*.

    Where there is no room for all of it, its namespace is left out, then a part before its end.
    """
    count, start = len(name), name.rfind("::") + 2 if "::" in name else 0
    shown: list[int | None] = [*range(count)]
    if count > room:
        shown = [None, *range(start, count)]
    if len(shown) > room:
        end = (room - 2) * 3 // 5
        shown = [None, *range(start, start + room - 2 - end), None, *range(count - end, count)]
    letters = (("…", False) if at is None else (safe(name[at]), at in hits) for at in shown)
    for is_hit, piece in groupby(letters, key=lambda letter: letter[1]):
        yield "".join(text for text, _ in piece), is_hit
