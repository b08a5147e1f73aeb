"""Most work that guards, or promises, may make in one run: a file of a few kilobytes can ask for hours of it."""

from __future__ import annotations

from dispatch_cli.model.guard import Guard
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.support import Promise

MAX_WORK = 3_000_000
"""Units of work of one run, of about a microsecond each."""
OF_OPERATOR = 6
"""Cost of an operator that is compared with a guard, slot by slot."""
OF_BROKEN = 20
"""Additional cost of an operator that is not as the guard wants it."""
OF_COMPARED = 100
"""The same, where slots are compared with another slot (`same_as`)."""
OF_HOP = 100
"""Cost of a kernel that a simulated call reaches."""
OF_CELL = 50
"""Cost of a cell that is promised; it takes some calls."""
OF_TEXT = 1
"""Cost of a text that is compared with a glob."""


class GuardBudget:
    """The work that is left."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def spend(self, work: int, guard: Guard | Promise) -> None:
        """Take *work* for a guard or promise. Errors: InputError when there is not so much left."""
        self._left -= work
        if self._left < 0:
            what = "guards" if isinstance(guard, Guard) else "promises"
            message = f"the {what} up to here need more comparisons and simulated calls than one run makes"
            hint = f"let {what} name fewer operators and keys, or check them in several runs with --guards FILE"
            raise InputError((Problem("too-many-comparisons", message, guard.span, hint=hint),))
