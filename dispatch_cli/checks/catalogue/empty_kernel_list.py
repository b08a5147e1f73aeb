"""No key has an empty list of kernels.

One of PyTorch's own invariants (`OperatorEntry::checkInvariants`): when the last kernel of a key is dropped, its list
is removed too, so that a key has a list exactly when it has a kernel. Declarations cannot break it; a program that
changes a dispatcher's state by hand can.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, CheckStage, Finding, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for every empty list of kernels."""
    for name in view.touched:
        for key, registrations in view.kernels(name).items():
            if not registrations:
                yield CHECK.finding(f"{name} has an empty list of kernels at {key}", name, key)


CHECK = Check.of(find, __doc__, "DC003", Severity.ERROR, stage=CheckStage.RECORDS)
