"""Kinds of changes between two states."""

from __future__ import annotations

from enum import Enum


class ChangeKind(Enum):
    """Kind of change."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    BENEATH = "beneath"
    """For a kernel: the active one is the same; others at its key, which it overrides, came or went."""
