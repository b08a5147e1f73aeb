"""Nothing is registered at Undefined.

One of PyTorch's own invariants (`OperatorEntry::checkInvariants`). Undefined is the slot of a call without tensor
arguments; only composite kernels fill it. Declarations can not break this: PyTorch takes a registration at Undefined
for one without a key, which goes to CompositeImplicitAutograd, and declarations must say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED


def find(state: State, names: tuple[OperatorName, ...]) -> Iterator[Finding]:
    """A finding for every operator with a kernel list at Undefined."""
    for name in names:
        registrations = state.dispatcher.operator(name).kernels.get(UNDEFINED)
        if registrations is not None:
            count = "1 kernel" if len(registrations) == 1 else f"{len(registrations)} kernels"
            yield Finding(
                check=CHECK.id,
                severity=Severity.ERROR,
                message=f"{name} has {count} at Undefined, where none can be",
                operator=str(name),
                key=UNDEFINED,
                span=registrations[0].kernel.span if registrations else None,
            )


CHECK = Check("undefined-registration", "nothing is registered at Undefined", __doc__, find, of_records=True)
