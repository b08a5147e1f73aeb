"""An operator's schema carries the operator's name.

The first of PyTorch's own invariants (`OperatorEntry::checkInvariants`). Declarations can not break it, because the
operator takes its name from the schema; a program that changes a dispatcher's state by hand can.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName


def find(state: State, names: tuple[OperatorName, ...]) -> Iterator[Finding]:
    """A finding for every operator whose schema names another."""
    for name in names:
        definition = state.dispatcher.operator(name).definition
        if definition is not None and definition.schema.name != name:
            yield Finding(
                check=CHECK.id,
                severity=Severity.ERROR,
                message=f"{name} has the schema of {definition.schema.name}",
                operator=str(name),
                span=definition.span,
            )


CHECK = Check("schema-name", "schema and operator name agree", __doc__, find, of_records=True)
