"""The checks, in the order in which they run and are listed."""

from __future__ import annotations

from dispatch_cli.checks import (
    dangling_implementation,
    empty_kernel_list,
    guard,
    schema_name,
    stale_live_table,
    undefined_registration,
)
from dispatch_cli.checks.check import Check

CHECKS: tuple[Check, ...] = (
    schema_name.CHECK,
    undefined_registration.CHECK,
    empty_kernel_list.CHECK,
    dangling_implementation.CHECK,
    stale_live_table.CHECK,
    guard.CHECK,
)
