"""A key without kernels has no list of kernels.

One of PyTorch's own invariants (`OperatorEntry::checkInvariants`): when the last kernel of a key is dropped, its list
goes too, so that "has a kernel" is one look-up. Declarations can not break it; a program that changes a dispatcher's
state by hand can.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName


def find(state: State, names: tuple[OperatorName, ...]) -> Iterator[Finding]:
    """A finding for every empty list of kernels."""
    for name in names:
        for key, registrations in state.dispatcher.operator(name).kernels.items():
            if not registrations:
                yield Finding(
                    check=CHECK.id,
                    severity=Severity.ERROR,
                    message=f"{name} has an empty list of kernels at {key}",
                    operator=str(name),
                    key=key,
                )


CHECK = Check("empty-kernel-list", "a key without kernels has no list", __doc__, find, of_records=True)
