"""Nothing is registered at Undefined.

One of PyTorch's own invariants (`OperatorEntry::checkInvariants`). Undefined is the slot of calls without tensor
arguments; only kernels at composite alias keys fill it. Declarations cannot break this: PyTorch takes a registration at
Undefined for one without a key, which goes to CompositeImplicitAutograd, and declarations must name that key.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, CheckStage, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.universe import UNDEFINED


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator with a kernel list at Undefined."""
    for name in view.touched:
        registrations = view.kernels(name).get(UNDEFINED)
        if registrations is not None:
            count = "1 kernel" if len(registrations) == 1 else f"{len(registrations)} kernels"
            message = f"{name} has {count} at Undefined, where none may be"
            span = registrations[0].kernel.span if registrations else None
            yield CHECK.finding(message, name, UNDEFINED, span=span)


CHECK = Check.of(find, __doc__, "DC002", Severity.ERROR, stage=CheckStage.RECORDS)
