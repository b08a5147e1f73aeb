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
from textual.scroll_view import ScrollView
from textual.strip import Strip

from dispatch_cli.render.document import Tone
from dispatch_cli.render.text_lines import TextLine

FOCUSED_CURSOR = "$block-cursor-foreground on $block-cursor-background"
"""The style of what the cursor is on."""
LOOKS = {
    Tone.HEAD: "bold",
    Tone.KERNEL: "bold $text-success",
    Tone.ALIAS: "$text-accent",
    Tone.FALLBACK: "$text-primary",
    Tone.WARN: "$text-warning",
    Tone.BAD: "bold $text-error",
    Tone.DIM: "$foreground-muted",
    Tone.PLACE: "$foreground-muted",
}
"""The styles of tones; text without one is plain."""


MARK = ("\u258c ", "  ")
"""Signs before the lines that the cursor is on, and before others, where something can be opened."""


class Choice(NamedTuple):
    """A part that can be opened: its first line, the one behind the last, and what it opens.

    x, width: its columns, where parts stand beside each other; a width of 0 is the whole line.
    """

    first: int
    end: int
    target: Any
    x: int = 0
    width: int = 0


class LinesView(ScrollView, can_focus=True):
    """Lines with their tones, and a cursor on the parts that can be opened. By default, each line is one."""

    DEFAULT_CSS = """
    LinesView { height: 1fr; overflow-x: auto; overflow-y: scroll;
        scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Cursor up", show=False),
        Binding("down,j", "move(1)", "Cursor down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Cursor up by a page", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Cursor down by a page", show=False),
        Binding("home,g", "end(-1)", "Cursor to the first line", show=False),
        Binding("end,G", "end(1)", "Cursor to the last line", show=False),
        Binding("left,h", "across(-1)", "Cursor to the cell at the left", show=False),
        Binding("right,l", "across(1)", "Cursor to the cell at the right", show=False),
    ]
    MARKS: ClassVar[tuple[str, str]] = MARK
    """Signs before the line that the cursor is on, and before the others."""
    BLURRED_CURSOR = "$foreground on $panel"
    """The style of what the cursor is on where the view does not have the focus."""

    class Moved(Message):
        """The cursor is on another part. target: what that opens; None where there is nothing to open."""

        def __init__(self, view: LinesView, target: Any) -> None:
            super().__init__()
            self.set_sender(view)  # textual passes no message on to a parent that counts as its sender
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
        self._looks: dict[tuple[str, ...], Style] = {}

    # what is shown; a kind of lines defines these

    def lay_out(self, width: int) -> None:
        """Make the lines for a width."""

    def line_count(self) -> int:
        """Number of lines."""
        raise NotImplementedError

    def line_at(self, number: int) -> TextLine:
        """One of them."""
        raise NotImplementedError

    def item(self, number: int) -> Any:
        """Target of a line, where each line is a part."""
        raise NotImplementedError

    def widest(self) -> int:
        """The width of the widest line."""
        return self._width

    def choices(self) -> int:
        """Number of parts that can be opened."""
        return self.line_count()

    def choice(self, number: int) -> Choice:
        """One of them."""
        return Choice(number, number + 1, self.item(number))

    def choices_of_line(self, line: int) -> Sequence[int]:
        """The numbers of the choices that have a part of a line."""
        return (line,) if 0 <= line < self.choices() else ()

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
        before = self._cursor
        self._cursor = max(0, min(number, count - 1))
        choice, margin = self.choice(self._cursor), len(self.MARKS[1])
        top = 0 if self._cursor == 0 else choice.first
        x = choice.x + (margin if choice.x else 0)
        area = Region(x, top, choice.width + margin or 1, choice.end - top)
        self.scroll_to_region(area, animate=False, force=True, immediate=True, x_axis=choice.width > 0)
        self._repaint(before)
        self._repaint(self._cursor)
        if self._cursor != before:
            self.post_message(self.Moved(self, choice.target))

    def _repaint(self, number: int) -> None:
        if number < self.choices():
            choice = self.choice(number)
            self.refresh_lines(choice.first, choice.end - choice.first)

    def action_move(self, by: int) -> None:
        """The next part above or below; where that is far away, the next line."""
        following = self._below(by) if self._has_cells else self._cursor + by
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

    @property
    def _has_cells(self) -> bool:
        """True if the part under the cursor has others beside it."""
        return self._cursor < self.choices() and self.choice(self._cursor).width > 0

    def _below(self, by: int) -> int:
        """The nearest part below the one under the cursor, or above; -1 if there is none."""
        here = self.choice(self._cursor)
        others = ((number, self.choice(number)) for number in range(self.choices()))
        beyond = {number: choice for number, choice in others if (choice.first - here.first) * by > 0}

        def distance(number: int) -> tuple[int, int]:
            return abs(beyond[number].first - here.first), abs(beyond[number].x - here.x)

        return min(beyond, key=distance, default=-1)

    def action_across(self, by: int) -> None:
        """The next part in the line."""
        following = self._cursor + by
        if 0 <= following < self.choices() and self.choice(following).first == self.choice(self._cursor).first:
            self.move_to(following)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's. Where no parts stand beside each other, the keys for these are for the view around."""
        return self._has_cells if action == "across" else super().check_action(action, parameters)

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
        if offset is None:
            return
        x = offset.x + self.scroll_offset.x - len(self.MARKS[1])
        for number in self.choices_of_line(offset.y + self.scroll_offset.y):
            choice = self.choice(number)
            if not choice.width or choice.x <= x < choice.x + choice.width:
                if number == self._cursor:
                    self.action_open()
                else:
                    self.move_to(number)

    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height)

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
        self.lay_out(max(1, width - len(self.MARKS[1])))
        self._cursor = max(0, min(self._cursor, self.choices() - 1))
        self.virtual_size = Size(self.widest(), self.line_count())
        if keep:
            self.move_to(self._cursor)
        else:
            self.scroll_to(0, 0, animate=False, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        """Other widths have other lines."""
        if self.scrollable_content_region.width != self._width:
            self.again(keep=True)

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        width, number = self.size.width, y + self.scroll_offset.y
        if number >= self.line_count():
            return Strip.blank(width, self.look())
        line = self.line_at(number)
        here = self.choice(self._cursor) if self._cursor in self.choices_of_line(number) else None
        is_row = here is not None and not here.width
        base = self.tone_look(Tone.PLAIN, is_row)
        mark = self.MARKS[here is None or number != here.first]
        segments = [Segment(mark, base), *(Segment(run.text, self.tone_look(run.tone, is_row)) for run in line)]
        strip = Strip(segments)
        if here is not None and here.width:
            strip = self._with_cell(strip, here)
        return strip.crop_extend(self.scroll_offset.x, self.scroll_offset.x + width, base).simplify()

    def _with_cell(self, strip: Strip, cell: Choice) -> Strip:
        """A line with the cursor on a part of it."""
        cursor, start = self.look(self.cursor_style), cell.x + len(self.MARKS[1])
        whole = strip.extend_cell_length(start + cell.width + 1, self.look())
        before, inside, after = whole.divide([start, start + cell.width, whole.cell_length])
        marked = [Segment(text, (style or Style()) + cursor) for text, style, _ in inside]
        return Strip.join([before, Strip(marked), after])

    # A component class would have its CSS worked out anew whenever the view is shown, hidden or focused.

    def look(self, *styles: str) -> Style:
        """The style of the view with others over it, such as ``bold $text-success``."""
        style = self._looks.get(styles)
        if style is None:
            whole = self.visual_style
            for text in styles:
                whole += self.app.stylesheet.parse_style(text)
            style = self._looks[styles] = whole.rich_style
        return style

    def tone_look(self, tone: Tone, cursor: bool = False) -> Style:
        """The style of a text. cursor: the cursor is on it."""
        styles = (LOOKS[tone],) if tone in LOOKS else ()
        return self.look(*styles, self.cursor_style) if cursor else self.look(*styles)

    @property
    def cursor_style(self) -> str:
        """The style of what the cursor is on."""
        if not self.has_focus:
            return self.BLURRED_CURSOR
        text_style = self.app.theme_variables["block-cursor-text-style"]
        return FOCUSED_CURSOR if text_style == "none" else f"{FOCUSED_CURSOR} {text_style}"

    def watch_has_focus(self, has_focus: bool) -> None:
        """textual's, which works out the CSS of the view and of its scrollbars anew; no rule is about its focus."""

    def notify_style_update(self) -> None:
        """textual's: the theme has changed."""
        super().notify_style_update()
        self._looks.clear()
