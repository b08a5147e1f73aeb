"""The checks: one file each. Its docstring is its documentation, and its examples run as tests."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dispatch_cli.checks.check import Check


def check_named(name: str) -> Check:
    """The check of that id; only its file is imported."""
    check: Check = import_module(f"{__name__}.{name.replace('-', '_')}").CHECK
    return check
