"""An operator and its schema have the same name.

One of PyTorch's own invariants (`OperatorEntry::checkInvariants`). Declarations cannot break it, because an operator
takes its name from its schema; a program that changes a dispatcher's state by hand can.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, CheckStage, Finding, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator whose schema names another."""
    for name in view.touched:
        definition = view.dispatcher.operator(name).definition
        if definition is not None and definition.schema.name != name:
            yield CHECK.finding(f"{name} has the schema of {definition.schema.name}", name, span=definition.span)


CHECK = Check.of(find, __doc__, "DC001", Severity.ERROR, stage=CheckStage.RECORDS)
