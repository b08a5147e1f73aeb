"""Violations of guards, operator by operator."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class Violation(NamedTuple):
    """Violation of a guard by one operator.

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
        """Reason that it shares with other violations of the guard."""
        return f"the guard requires {self.wanted}"


class BrokenOperator(NamedTuple):
    """An operator that is not as a guard wants it, and where. Operators with one plan share most of these."""

    operator: OperatorName
    violations: tuple[Violation, ...]
