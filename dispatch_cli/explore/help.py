"""Help: every key that does something here, and what the marks mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Static

from dispatch_cli.explore.catalogue import CALLED, OWN, TRIED
from dispatch_cli.explore.line_looks import MARK
from dispatch_cli.explore.operator_list import OperatorList
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes import PANES, panes_of
from dispatch_cli.explore.reading import ReadingAgain

_NAMED = {"question_mark": "?", "slash": "/", "escape": "esc", "pageup": "page up", "pagedown": "page down"}
_OF_TEXTUAL = (
    ("tab, shift+tab", "To the next part of the screen, or the one before"),
    ("ctrl+p", "Command palette: find an operator, view, slot, action or theme by its name"),
    ("ctrl+u", "Clear what is typed"),
    ("ctrl+q", "Quit the program, also while typing"),
)
_MARKS = (
    (OWN, "the files register something for the operator, or change it"),
    (TRIED, "a change on trial is about the operator"),
    ("2E 1W 3i", "its findings: 2 errors, 1 warning, 3 notes"),
    (
        "[all 12] +3 …",
        "above the list: how many operators, higher-order ones too, have each mark; the list shows those in brackets",
    ),
    ("!7", "operators with findings; … as long as they are looked for"),
    ("…name", "the name is cut: the command line has it whole"),
)
_EVERYWHERE = ((MARK[0].strip(), "the cursor: what the keys are about"),)
_OF_TRACE = ((f"{CALLED}12", "how often the recorded program called the operator"),)
_MOUSE = (
    ("click", "Choose; twice, open. A view's name, a mark above the list and a key below can be clicked"),
    ("drag", "Select text, such as the command line; ctrl+c copies it"),
)
_KEYS = 17
"""The width of the column of keys."""
_WIDEST, _AROUND = 96, 8
"""Columns of the box at most, and those that its frame and scrollbar take."""
HelpSection = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and keys with what they do."""


class HelpScreen(ModalScreen[None]):
    """The keys of the application, the list and the view in front."""

    CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll { width: 90%; max-width: 96; height: 90%; padding: 0 2; background: $surface;
        border: round $primary; border-title-align: left; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", "Close")]

    def __init__(self, sections: Iterable[HelpSection]) -> None:
        super().__init__()
        self.sections = tuple(sections)

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Help: esc closes"
            yield Static(self._text(), markup=False)

    def on_resize(self) -> None:
        """Other widths have other lines."""
        self.call_after_refresh(lambda: self.query_one(Static).update(self._text()))

    def _text(self) -> Content:
        return help_text(self.sections, min(_WIDEST, self.app.size.width * 9 // 10) - _AROUND)


def help_text(sections: Iterable[HelpSection], width: int) -> Content:
    """All sections as lines that are not wider."""
    parts: list[tuple[str, str]] = []
    for title, rows in sections:
        parts.append((f"{title}\n", "bold $text-accent"))
        for keys, text in rows:
            first = f"  {keys:<{_KEYS}} "
            lines = wrap(text, max(1, width - _KEYS - 3), initial_indent=" " * (len(first) - _KEYS - 3)) or [""]
            lines[0] = lines[0].lstrip()
            parts += [(first, "bold"), (f"{lines[0]}\n", "")]
            parts += [(f"{'':{_KEYS + 3}}{line}\n", "") for line in lines[1:]]
        parts.append(("\n", ""))
    return Content.assemble(*parts)


def sections_of(app: App[None], pane: Pane | None, has_trace: bool = False) -> Iterator[HelpSection]:
    """Sections of the help: first the keys of the list, if it has the focus, else those of the view.

    has_trace: a recording of a program is shown.
    """
    in_list = isinstance(app.focused, OperatorList)
    of_list = [("Keys in the list of operators", key_rows(OperatorList))]
    own = () if pane is None else key_rows(type(pane))
    of_view = [(f"Keys in the view “{pane.TITLE}”", own)] if pane is not None and own else []
    yield from (*of_list, *of_view) if in_list else of_view
    titles = {entry.title for entry in PANES}
    everywhere = (row for row in key_rows(type(app)) if row[1] not in titles)
    yield "Keys everywhere", (*dict.fromkeys((*key_rows(ReadingAgain), *everywhere)), *_OF_TEXTUAL)
    if pane is not None and pane.notes:
        yield f"What the view “{pane.TITLE}” shows", (*pane.notes,)
    if pane is not None:
        yield f"Marks in the view “{pane.TITLE}”", (*pane.MARKS, *_EVERYWHERE)
        rows = dict.fromkeys(row for node in pane.query("*") for row in key_rows(type(node)))
        if rows:
            yield f"Keys in the parts of the view “{pane.TITLE}”", (*rows,)
    views = tuple((entry.key, f"View: {entry.title}") for entry in panes_of(has_trace))
    yield "Keys of the views", views
    if not in_list:
        yield from of_list
    yield "Marks in the list of operators", (*_MARKS, *(_OF_TRACE if has_trace else ()))
    yield "Mouse", _MOUSE


def key_rows(kind: type[DOMNode]) -> tuple[tuple[str, str], ...]:
    """The keys of a class of ours, and what they do; keys for the same on one row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for ancestor in kind.__mro__:
        if ancestor.__module__.startswith("dispatch_cli."):
            for binding in Binding.make_bindings(ancestor.__dict__.get("BINDINGS", ())):
                if binding.description:
                    shown = binding.key_display or _NAMED.get(binding.key, binding.key)
                    rows.setdefault((binding.action, binding.tooltip or binding.description), []).append(shown)
    return tuple((", ".join(keys), text) for (_, text), keys in rows.items())
