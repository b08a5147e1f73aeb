"""The marks of slots that are stale, or that differ from the base."""

from __future__ import annotations

from dispatch_cli.answers.shared.slot_row import TableRow

STALE, CHANGED, BOTH = "!", "*", "#"
"""Marks behind a code."""


def mark_of(row: TableRow) -> str:
    """The mark behind the code of a slot."""
    if not row.stale:
        return "" if row.before is None else CHANGED
    return STALE if row.before is None else BOTH
