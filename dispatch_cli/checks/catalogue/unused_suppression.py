"""Every suppression suppresses a finding.

A suppression whose findings are gone hides the next one, which nobody has looked at. It is reported only if every check
that it names has run over the whole state.

Bad, because nothing is stale here:

```yaml
dispatch: 1
operators:
  # dispatch-cli: ignore[stale-live-table] our build links these files in a fixed order
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  # dispatch-cli: ignore[stale-live-table] our build links these files in a fixed order
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, Autograd: op_autograd, NestedTensorCPU: op_nested}
```

Fix: remove the suppression, or the check in its list that finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.settings import Suppression


def find(_: View) -> Iterator[Finding]:
    """Nothing: the run makes a finding (`finding_of`) for every suppression that suppressed nothing, at its end."""
    return iter(())


def finding_of(suppression: Suppression) -> Finding:
    """The finding for a suppression that suppresses nothing."""
    names = ", ".join(selector.text for selector in suppression.checks)
    return CHECK.finding(
        f"this suppression of {names} suppresses no finding",
        span=suppression.span,
        mark=names,
        mark_follows=True,
        tip="remove it" if len(suppression.checks) == 1 else "remove it, or the checks in its list that find nothing",
        subject=suppression.reason,
    )


CHECK = Check.of(find, __doc__, "DC903", Severity.WARNING)
