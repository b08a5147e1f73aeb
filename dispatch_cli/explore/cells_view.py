"""A table of slots, with a cursor on a row, or on a cell of a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from dispatch_cli.explore.line_looks import MARK
from dispatch_cli.explore.lines_view import LinesView, Openable
from dispatch_cli.render.text_lines import TextLine, line_width

_MARK = len(MARK[0])


class ShownKeys(NamedTuple):
    """Content of a row or a cell: slots with one answer, or the places of an implementation.

    row: of the report, which speaks for all of them.
    """

    keys: tuple[str, ...]
    row: Any


class Target(NamedTuple):
    """Area of a place: the first line and the one behind the last; the first column, and the width, 0 for all."""

    place: ShownKeys
    first: int
    end: int
    x: int = 0
    width: int = 0


class ShownSlots(NamedTuple):
    """A table that is laid out. top: lines that stay above the others; the numbers of lines do not count them."""

    lines: Sequence[TextLine] = ()
    targets: Sequence[Target] = ()
    top: Sequence[TextLine] = ()


class CellsView(LinesView):
    """A table of slots."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "across(-1)", "Cursor to the cell at the left", show=False),
        Binding("right,l", "across(1)", "Cursor to the cell at the right", show=False),
    ]

    class PlacesLaidOut(Message):
        """There are other places now: what is under the cursor can be another one."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._make: Callable[[int], ShownSlots] = lambda _: ShownSlots()
        self.cells = ShownSlots()
        self._key: str | None = None

    def show(self, make: Callable[[int], ShownSlots], key: str | None = None) -> None:
        """Show another table. make: lays it out for a width. key: the cursor goes to it, where it is shown."""
        self._make = make
        self._key = key
        self.again(keep=True)

    def point(self, key: str | None) -> None:
        """Put the cursor on the place of a key, if there is one; else it stays."""
        self._key = key
        number = self._number()
        if number is not None and number != self._cursor:
            with self.prevent(self.Moved):
                self.move_to(number)

    def _number(self) -> int | None:
        """The number of the place of the key that the cursor is to be on."""
        targets = self.cells.targets
        if self._cursor < len(targets) and self._key in targets[self._cursor].place.keys:
            return self._cursor
        return next((n for n, target in enumerate(targets) if self._key in target.place.keys), None)

    def again(self, keep: bool = False) -> None:
        with self.prevent(self.Moved):
            super().again(keep)

    @property
    def place(self) -> ShownKeys | None:
        """Place under the cursor."""
        shown_keys: ShownKeys | None = self.target
        return shown_keys

    def lay_out(self, width: int) -> None:
        self.cells = self._make(width)
        number = self._number()
        self._cursor = self._cursor if number is None else number
        self.post_message(self.PlacesLaidOut().set_sender(self))

    def line_count(self) -> int:
        return len(self.cells.lines)

    def line_at(self, number: int) -> TextLine:
        return self.cells.lines[number]

    def widest(self) -> int:
        if not self.cells.targets or not self.cells.targets[0].width:
            return self._width
        return max(line_width(line) for line in (*self.cells.top, *self.cells.lines)) + _MARK

    def choices(self) -> int:
        return len(self.cells.targets)

    def choice(self, number: int) -> Openable:
        target = self.cells.targets[number]
        return Openable(target.first, target.end, target.place)

    def choice_of_line(self, line: int) -> int | None:
        here = self.cells.targets[self._cursor] if self._cursor < len(self.cells.targets) else None
        if here is not None and here.first <= line < here.end:
            return self._cursor
        return next((n for n, target in enumerate(self.cells.targets) if target.first <= line < target.end), None)

    def top_lines(self) -> Sequence[TextLine]:
        return self.cells.top

    # the cursor, which moves in two directions

    def action_move(self, by: int) -> None:
        """The nearest place above or below."""
        targets = self.cells.targets
        if not targets or not targets[self._cursor].width:
            super().action_move(by)
            return
        here = targets[self._cursor]
        beyond = [n for n, target in enumerate(targets) if (target.first - here.first) * by > 0]
        if beyond:
            self.move_to(min(beyond, key=lambda n: (abs(targets[n].first - here.first), abs(targets[n].x - here.x))))
        else:
            self.scroll_relative(y=by, animate=False)

    def action_across(self, by: int) -> None:
        """The next place in the line; where there are none beside each other, the view is moved."""
        targets = self.cells.targets
        following = self._cursor + by
        if not targets or not targets[self._cursor].width:
            self.scroll_relative(x=8 * by, animate=False)
        elif 0 <= following < len(targets) and targets[following].first == targets[self._cursor].first:
            self.move_to(following)

    def move_to(self, number: int) -> None:
        super().move_to(number)
        if not self.cells.targets:
            return
        target = self.cells.targets[self._cursor]
        self._key = self._key if self._key in target.place.keys else target.place.keys[0]
        if target.width:
            left, room = self.scroll_offset.x, self.scrollable_content_region.width
            start, end = target.x + _MARK, target.x + _MARK + target.width
            if end > left + room:
                left = end - room
            elif start < left + _MARK:
                left = start - _MARK
            self.scroll_to(x=left, animate=False, force=True, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """As in other lines; where places stand beside each other, the one under the mouse counts."""
        targets = self.cells.targets
        if not targets or not targets[0].width:
            return  # that is done by `LinesView.on_click`, which textual calls too
        event.prevent_default()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        y = offset.y - len(self.cells.top) + self.scroll_offset.y
        x = offset.x + self.scroll_offset.x - _MARK
        for number, target in enumerate(targets):
            if target.first <= y < target.end and target.x <= x < target.x + target.width:
                if number == self._cursor:
                    self.action_open()
                else:
                    self.move_to(number)
                return

    # drawing

    def render_line(self, y: int) -> Strip:
        targets = self.cells.targets
        if not targets or not targets[0].width:
            return super().render_line(y)
        target, number = targets[self._cursor], y - len(self.cells.top) + self.scroll_offset.y
        base = self.look()
        if y < len(self.cells.top):
            line: TextLine = self.cells.top[y]
        elif number < len(self.cells.lines):
            line = self.cells.lines[number]
        else:
            return Strip.blank(self.size.width, base)
        here = y >= len(self.cells.top) and target.first <= number < target.end
        segments = [
            Segment(MARK[not here], base),
            *(Segment(run.text, self.tone_look(run.tone)) for run in line),
        ]
        strip = Strip(segments)
        left, right = self.scroll_offset.x, self.scroll_offset.x + self.size.width
        if here:
            strip = self._with_cell(strip.extend_cell_length(target.x + target.width + _MARK + 1, base), target)
        return strip.crop_extend(left, right, base).simplify()

    def _with_cell(self, strip: Strip, target: Target) -> Strip:
        cursor = self.look(self.cursor_style)
        start = target.x + _MARK
        before, cell, after = strip.divide([start, start + target.width, strip.cell_length])
        marked = [Segment(text, (style or Style()) + cursor) for text, style, _ in cell]
        return Strip.join([before, Strip(marked), after])
