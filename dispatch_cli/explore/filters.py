"""The line above the list of operators: how many there are of each mark."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from dispatch_cli.explore.catalogue import CALLED, OWN, TRIED, Catalogue, Marked

_SIGNS = {Marked.ALL: "all ", Marked.OWN: OWN, Marked.TRIED: TRIED, Marked.FOUND: "!", Marked.CALLED: CALLED}


def short_number(number: int) -> str:
    """A number in at most four characters or so: ``8.7k``."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 9_950 else f"{round(number / 1000):,}k"


class Filters(Widget):
    """Line with the number of operators of each mark, the chosen one marked; or with what a search may mean."""

    DEFAULT_CSS = "Filters { height: 1; padding: 0 1; color: $text-muted; }"

    class FilterPicked(Message):
        """A filter was clicked."""

        def __init__(self, marked: Marked) -> None:
            super().__init__()
            self.marked = marked

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self.catalogue = catalogue
        self.marked = Marked.ALL
        self.checking = True
        self.near = ""

    def note_checking(self, checking: bool) -> None:
        """Show whether findings are being looked for."""
        if checking != self.checking:
            self.checking = checking
            self.refresh()

    def note_near(self, near: str) -> None:
        """Show which names the list has first, in a few words, if a search finds nothing good; empty if it does."""
        if near != self.near:
            self.near = near
            self.refresh()

    def _parts(self) -> list[tuple[Marked, str]]:
        """Parts that there is room for: with short numbers if need be, and then without the word."""
        parts = self._with(lambda count: f"{count:,}")
        if self._width(parts) > self.content_size.width:
            parts = self._with(short_number)
        if self._width(parts) > self.content_size.width:
            parts = [(mark, text.removeprefix(_SIGNS[Marked.ALL])) for mark, text in parts]
        return parts

    def _with(self, number: Callable[[int], str]) -> list[tuple[Marked, str]]:
        parts = []
        for mark in self.catalogue.marks:
            names = self.catalogue.names(mark)
            count = len(self.catalogue.entries) if names is None else len(names)
            is_found = mark is Marked.FOUND
            text = "" if is_found and self.catalogue.found is None else number(count)
            parts.append((mark, f"{_SIGNS[mark]}{text}{'…' if is_found and self.checking else ''}"))
        return parts

    def _width(self, parts: list[tuple[Marked, str]]) -> int:
        return sum(len(text) + 2 for _, text in parts)

    def render(self) -> Content:
        if self.near:
            return Content.styled(self.near, "$text-warning")
        parts = [(f"[{text}]", "bold") if mark is self.marked else (f" {text} ", "") for mark, text in self._parts()]
        return Content.assemble(*parts)

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        end = 0
        for mark, text in () if self.near else self._parts():
            end += len(text) + 2
            if at is not None and at.x < end:
                self.post_message(self.FilterPicked(mark))
                return
