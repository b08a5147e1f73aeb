"""Help: every key that does something here, and what the marks mean."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode

from dispatch_cli.explore.operators.catalogue import CALLED, OWN
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.operators.pane import Operators
from dispatch_cli.explore.panes import PANES, panes_of
from dispatch_cli.explore.session import TRIED
from dispatch_cli.explore.views.lines_view import MARK
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind

_OF_TEXTUAL = (
    ("tab, shift+tab", "To the next part of the screen, or the one before"),
    ("ctrl+p", "Command palette: find a view, an action or a theme by its name"),
    ("ctrl+u", "Clear what is typed"),
    ("ctrl+q", "Quit the program, also while typing"),
)
_MARKS = (
    (OWN, "the files register something for the operator, or change it"),
    (TRIED, "a change on trial is about the operator"),
    ("2E 1W 3i", "its findings, without the changes on trial: 2 errors, 1 warning, 3 notes"),
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
HelpSection = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and keys with what they do."""


def help_blocks(app: App[None], pane: Pane | None, has_trace: bool = False) -> Iterator[Block]:
    """The keys of the application, the list and the view in front. has_trace: a recording of a program is shown."""
    for title, rows in _sections(app, pane, has_trace):
        yield Paragraph(title, kind=ParagraphKind.SECTION)
        yield Facts([Fact(keys, text) for keys, text in rows], indent=2)
        yield Gap()


def _sections(app: App[None], pane: Pane | None, has_trace: bool) -> Iterator[HelpSection]:
    if pane is not None:
        keys = dict.fromkeys(row for node in (pane, *pane.query("*")) for row in key_rows(app, type(node)))
        yield f"Keys in the view “{pane.TITLE}”", (*keys,)
        yield f"Marks in the view “{pane.TITLE}”", (*pane.MARKS, *_EVERYWHERE)
    titles = {entry.title for entry in PANES}
    yield "Keys everywhere", (*(row for row in key_rows(app, type(app)) if row[1] not in titles), *_OF_TEXTUAL)
    yield "Keys of the views", tuple((entry.key, f"View: {entry.title}") for entry in panes_of(has_trace))
    of_list = (row for row in key_rows(app, Operators) if row[0] == "f")  # its others are for the input
    yield "Keys in the list of operators", (*key_rows(app, OperatorList), *of_list)
    yield "Marks in the list of operators", (*_MARKS, *(_OF_TRACE if has_trace else ()))
    yield "Mouse", _MOUSE


def key_rows(app: App[None], kind: type[DOMNode]) -> tuple[tuple[str, str], ...]:
    """The keys of a class of ours, and what they do; keys for the same on one row."""
    rows: dict[tuple[str, str], list[str]] = {}
    bound: set[str] = set()
    for ancestor in kind.__mro__:
        if ancestor.__module__.startswith("dispatch_cli."):
            bindings = list(Binding.make_bindings(ancestor.__dict__.get("BINDINGS", ())))
            for binding in bindings:
                if binding.description and binding.key not in bound:
                    row = rows.setdefault((binding.action, binding.tooltip or binding.description), [])
                    row.append(app.get_key_display(binding))
            bound.update(binding.key for binding in bindings)
    return tuple((", ".join(keys), text) for (_, text), keys in rows.items())
