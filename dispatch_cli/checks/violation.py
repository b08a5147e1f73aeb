"""Where a guard does not hold, operator by operator or counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class Violation(NamedTuple):
    """Where one operator is not as a guard wants it.

    keys: the slots, or the modes and so on, that hold the same; none where a call is meant that did not get as far.
    wanted: the expectations that do not hold, in words. found: what is there, in words. entry: what fills the first
    slot. span: where the implementation of a higher-order operator is declared.
    """

    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry | None = None
    span: Span | None = None

    @property
    def key(self) -> str | None:
        """The first of its keys."""
        return self.keys[0] if self.keys else None

    @property
    def reason(self) -> str:
        """What it has in common with what other operators do not do for the guard."""
        return f"the guard requires {self.wanted}"


class BrokenOperator(NamedTuple):
    """An operator that is not as a guard wants it, and where. Operators with one plan share most of these."""

    operator: OperatorName
    violations: tuple[Violation, ...]


class Tally(NamedTuple):
    """How many violations of a guard there are, counted without making them.

    reasons: how many there are of each reason. operators: how many violations each operator has.
    """

    reasons: Mapping[str, int]
    operators: Callable[[], Mapping[str, int]]
