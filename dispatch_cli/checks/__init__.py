"""The checks, in the order of their codes, in which they are listed and reported."""

from __future__ import annotations

from dispatch_cli.checks import (
    dangling_implementation,
    empty_kernel_list,
    guard,
    schema_name,
    stale_live_table,
    undefined_registration,
    unmatched_guard,
    unused_suppression,
)
from dispatch_cli.checks.check import Check

CHECKS: tuple[Check, ...] = (
    schema_name.CHECK,
    undefined_registration.CHECK,
    empty_kernel_list.CHECK,
    stale_live_table.CHECK,
    dangling_implementation.CHECK,
    guard.CHECK,
    unmatched_guard.CHECK,
    unused_suppression.CHECK,
)
