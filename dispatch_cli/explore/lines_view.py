"""Lines of text with their tones, and a cursor on those that can be opened. All texts are data: there is no markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from dispatch_cli.explore.line_looks import LOOKS, MARK
from dispatch_cli.explore.sized_scroll_view import SizedScrollView
from dispatch_cli.render.document import Tone
from dispatch_cli.render.text_lines import TextLine


class Openable(NamedTuple):
    """Lines that can be opened: the first, the one behind the last, and what they open."""

    first: int
    end: int
    target: Any


class LinesView(SizedScrollView, can_focus=True):
    """Lines with their tones, and a cursor on those that can be opened."""

    DEFAULT_CSS = """
    LinesView { height: 1fr; overflow-x: auto; overflow-y: scroll;
        scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Cursor up", show=False),
        Binding("down,j", "move(1)", "Cursor down", show=False),
        Binding("pageup", "page(-1)", "Cursor up by a page", show=False),
        Binding("pagedown", "page(1)", "Cursor down by a page", show=False),
        Binding("home,g", "end(-1)", "Cursor to the first line", show=False),
        Binding("end,G", "end(1)", "Cursor to the last line", show=False),
        Binding("enter", "open", "Open what is under the cursor", show=False),
    ]

    class Moved(Message):
        """The cursor is on another part. target: what that opens; None where there is nothing to open."""

        def __init__(self, view: LinesView, target: Any) -> None:
            super().__init__()
            self.view = view
            self.target = target

        @property
        def control(self) -> LinesView:
            """The widget, by which handlers are chosen."""
            return self.view

    class Opened(Moved):
        """A part is opened, by enter or by a click on the part that the cursor is on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._cursor = 0
        self._width = -1

    # what is shown; a kind of lines defines these

    def lay_out(self, width: int) -> None:
        """Make the lines for a width."""
        raise NotImplementedError

    def line_count(self) -> int:
        """Number of lines."""
        raise NotImplementedError

    def line_at(self, number: int) -> TextLine:
        """One of them."""
        raise NotImplementedError

    def widest(self) -> int:
        """The width of the widest line."""
        return self._width

    def choices(self) -> int:
        """Number of parts that can be opened."""
        raise NotImplementedError

    def choice(self, number: int) -> Openable:
        """One of them."""
        raise NotImplementedError

    def choice_of_line(self, line: int) -> int | None:
        """The number of the choice that a line belongs to."""
        raise NotImplementedError

    def top_lines(self) -> Sequence[TextLine]:
        """Lines that stay above the others."""
        return ()

    # the cursor

    @property
    def target(self) -> Any:
        """Target of the part under the cursor; None if there is none."""
        return self.choice(self._cursor).target if self._cursor < self.choices() else None

    @property
    def cursor(self) -> int:
        """The number of the part that the cursor is on."""
        return self._cursor

    def move_to(self, number: int) -> None:
        """Put the cursor on a part, and bring that into view; where nothing is laid out yet, it will begin there."""
        if self._width <= 0:
            self._cursor = max(0, number)
            return
        count = self.choices()
        if not count:
            return
        number = max(0, min(number, count - 1))
        moved, self._cursor = number != self._cursor, number
        choice = self.choice(number)
        top = 0 if number == 0 else choice.first
        self.scroll_to_region(
            Region(0, top, 1, choice.end - top + len(self.top_lines())), animate=False, force=True, immediate=True
        )
        self.refresh()
        if moved:
            self.post_message(self.Moved(self, choice.target))

    def action_move(self, by: int) -> None:
        """The next part; where that is far away, the next line."""
        following = self._cursor + by
        room = max(1, self._room() - 1)
        if not 0 <= following < self.choices():
            self.scroll_relative(y=by, animate=False)
            return
        choice = self.choice(following)
        offset = self.scroll_offset.y
        if choice.first > offset + 2 * room or choice.end < offset - room:
            self.scroll_relative(y=by, animate=False)
        else:
            self.move_to(following)

    def action_page(self, by: int) -> None:
        """A page on or back."""
        if not self.choices():
            self.scroll_relative(y=by * self._room(), animate=False)
            return
        line = self.choice(min(self._cursor, self.choices() - 1)).first + by * self._room()
        self.move_to(self._nearest(line))

    def action_end(self, by: int) -> None:
        """The first or the last part."""
        if self.choices():
            self.move_to(0 if by < 0 else self.choices() - 1)
        if by < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def action_open(self) -> None:
        """Open the part under the cursor."""
        if (target := self.target) is not None:
            self.post_message(self.Opened(self, target))

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on a part; one on the part that the cursor is on opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self.top_lines()):
            return
        number = self.choice_of_line(offset.y - len(self.top_lines()) + self.scroll_offset.y)
        if number is None:
            return
        if number == self._cursor:
            self.action_open()
        else:
            self.move_to(number)

    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height - len(self.top_lines()))

    def _nearest(self, line: int) -> int:
        """The choice that is nearest to a line."""
        low, high = 0, self.choices() - 1
        while low < high:
            middle = (low + high) // 2
            if self.choice(middle).end <= line:
                low = middle + 1
            else:
                high = middle
        return low

    # drawing

    def again(self, keep: bool = False) -> None:
        """Lay out what is shown now. keep: the cursor stays where it is."""
        if not keep:
            self._cursor = 0
        width = self.scrollable_content_region.width
        self._width = width
        if width <= 0:  # not shown yet; its size will come
            return
        self.lay_out(max(1, width - len(MARK[0])))
        self._cursor = max(0, min(self._cursor, self.choices() - 1))
        self.virtual_size = Size(self.widest(), self.line_count() + len(self.top_lines()))
        if keep:
            self.move_to(self._cursor)
        else:
            self.scroll_to(0, 0, animate=False, immediate=True)
        self.refresh()

    def sized(self) -> None:
        """Other widths have other lines."""
        if self.scrollable_content_region.width != self._width:
            self.again(keep=True)

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        width, plain = self.size.width, self.look()
        top = self.top_lines()
        number = y - len(top) + self.scroll_offset.y
        if y < len(top):
            line, mark, cursor = top[y], MARK[1], False
        elif number < self.line_count():
            choice = self.choice_of_line(number)
            cursor = choice is not None and choice == self._cursor
            line, mark = self.line_at(number), MARK[not cursor or number != self.choice(self._cursor).first]
        else:
            return Strip.blank(width, plain)
        base = self.tone_look(Tone.PLAIN, cursor)
        segments = [Segment(mark, base), *(Segment(run.text, self.tone_look(run.tone, cursor)) for run in line)]
        strip = Strip(segments).crop_extend(self.scroll_offset.x, self.scroll_offset.x + width, base)
        return strip.simplify()

    def tone_look(self, tone: Tone, cursor: bool = False) -> Style:
        """The style of a text. cursor: the cursor is on it."""
        styles = (LOOKS[tone],) if tone in LOOKS else ()
        return self.look(*styles, self.cursor_style) if cursor else self.look(*styles)
