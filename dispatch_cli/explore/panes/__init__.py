"""The views, one module for each, imported when the view is first shown."""

from __future__ import annotations

from typing import NamedTuple


class PaneEntry(NamedTuple):
    """A view. id: of its module, whose class is called like it. key: goes to it from everywhere."""

    id: str
    title: str
    key: str


SUPPORT = PaneEntry("support", "Support", "M")
"""The first view of files."""
PANES = (
    PaneEntry("table", "Table", "1"),
    PaneEntry("slot", "Slot", "2"),
    PaneEntry("call", "Calls", "3"),
    PaneEntry("changes", "What if", "4"),
    PaneEntry("findings", "Findings", "5"),
    PaneEntry("keys", "Keys", "6"),
    PaneEntry("coverage", "Coverage", "7"),
    PaneEntry("differences", "Changes", "8"),
    PaneEntry("history", "History", "9"),
    SUPPORT,
)
TRACE = PaneEntry("trace", "Trace", "0")
"""View that is only there if a recording is given."""


def panes_of(has_trace: bool) -> tuple[PaneEntry, ...]:
    """The views that there are. has_trace: a recording is given."""
    return (*PANES, TRACE) if has_trace else PANES
