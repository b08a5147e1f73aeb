"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span


class Severity(Enum):
    """How bad a finding is; errors and warnings alike make a check run fail."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold.

    check: the id of the check. message: one sentence. operator, key: what it is about, where it is about one.
    details: named facts for machines and for the second lines of a text report, in order.
    span: the declaration to look at first. related: other places that matter.
    group: one sentence that says what all findings with that sentence and place have in common; a text for people may
    show them together, with the details of each.
    """

    check: str
    severity: Severity
    message: str
    operator: str | None = None
    key: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    span: Span | None = None
    related: tuple[Related, ...] = ()
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its stable id, what it holds up in a few words, and the search for what breaks it.

    documentation: the docstring of the check's file: why, a bad and a good example, the fix.
    find: yields findings about the named operators of a state, in a deterministic order.
    of_records: it is about an operator's records themselves. Where it finds something, nothing can be computed from
    them, and the checks of what is computed leave the operator out.
    """

    id: str
    title: str
    documentation: str
    find: Callable[[State, tuple[OperatorName, ...]], Iterator[Finding]]
    of_records: bool = False
