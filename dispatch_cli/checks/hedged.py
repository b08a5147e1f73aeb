"""Findings that something lacks, which an undecided registration in sources may be."""

from __future__ import annotations

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related

_TIP = "decide it with -D or [tool.dispatch-cli.extract] (`dispatch-cli extract` lists what would decide more)"


def hedged(view: View, check: Check, finding: Finding) -> Finding:
    """The finding; only for information, where what it misses may be there."""
    if check.lacks is None:
        return finding
    names = (finding.operator,) if finding.operator is not None else (name for name, _ in finding.slots)
    undecided = (view.undecided.may_be_there(OperatorName.parse(name), check.lacks) for name in names)
    registration = next(filter(None, undecided), None)
    if registration is None:
        return finding
    field, text = registration.unknown[0]
    what = "definition" if check.lacks is MissingPart.DEFINITION else "registration"
    words = f"an undecided {what}: the {field.replace('_', ' ')} is {text}"
    return finding._replace(
        severity=Severity.INFO,
        message=f"{finding.message}; this is not sure: an undecided {what} may be what it lacks",
        related=(*finding.related, Related(words, registration.at)),
        tip=_TIP if finding.tip is None else f"{_TIP}; if that is not it, {finding.tip}",
    )
