"""What the list of operators marks, computed in the background."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dispatch_cli.explore.session import Session
from dispatch_cli.model.settings import Severity

if TYPE_CHECKING:
    from dispatch_cli.report.findings import FindingsReport

Found = Mapping[str, Mapping[Severity, int]]
"""The findings of each operator, counted by severity."""


def tried_operators(session: Session) -> frozenset[str]:
    """The operators of which a change on trial changes a slot."""
    effect = session.whatif.effect()
    slots = {slot.operator for slot in effect.slots} | {slot.operator for slot in effect.python_slots}
    return frozenset(map(str, slots))


def found_of(report: FindingsReport) -> Found:
    """How many findings of each severity every operator has."""
    found: dict[str, Counter[Severity]] = {}
    for one in report.findings:
        if one.finding.operator is not None:
            found.setdefault(str(one.finding.operator), Counter())[one.finding.severity] += 1
    return found
