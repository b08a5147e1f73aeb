"""No kernel overrides another.

Of several kernels of an operator at one key, the newest runs; the others stay inactive. When two libraries register for
the same operator and key, the order in which they are loaded decides which kernel runs. PyTorch prints "Overriding a
previously registered kernel for the same operator and the same dispatch key" only once per process, for the first such
operator (`OperatorEntry::registerKernel`). The "previous kernel" in that warning is often not the overridden one
(pytorch/pytorch#65825, #111887): it is the first kernel with a C++ signature that was registered for the operator, at
whatever key, even the new one itself, or "no debug info". The finding names the overridden kernel. PyTorch does not
warn at Meta, where Python kernels override those of C++ on purpose, nor at MTIA; at these keys only overrides by your
own files are reported, as info.

A library that registers a kernel for an operator of PyTorch, at a key where PyTorch has one, means to override it:
where all overridden kernels are PyTorch's, the finding is an info.

PyTorch overrides its own kernels, too: in 2.15, `torch/_native/registry.py` overrides the kernel of `aten::bmm` at
CUDA. For an operator that writes to its arguments, `torch.library.custom_op` registers two kernels at ADInplaceOrView,
of which the second is meant to run; that is not reported.

Bad, because only the second kernel at CPU runs:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_slow, Autograd: op_autograd}
  - name: demo::op
    dispatch: {CPU: op_fast}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_fast, Autograd: op_autograd}
```

Fix: remove one of the two registrations. If the override is intended, suppress the finding where it is, with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import SILENT_OVERRIDES, Registration
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, BACKEND_SELECT

CUSTOM_OP = "torch/_library/custom_ops.py:"
"""Part of the debug text of what `torch.library.custom_op` registers."""
OF_CUSTOM_OPS = (AD_INPLACE_OR_VIEW, BACKEND_SELECT)
"""Keys at which it replaces kernels of its own."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every key of an operator with more than one kernel."""
    for name in view.operators:
        for key in view.overridden(name):
            if key in SILENT_OVERRIDES and view.dispatcher.is_untouched(name):
                continue
            registrations = view.kernels(name)[key]
            if key in SILENT_OVERRIDES and all(entry.captured for entry in registrations):
                continue
            if key in OF_CUSTOM_OPS and all(CUSTOM_OP in entry.kernel.debug for entry in registrations):
                continue
            is_of_pytorch = all(view.registrant(entry) is Registrant.PYTORCH for entry in registrations[1:])
            warned = any(registration.warns for registration in registrations)
            written = any(map(view.is_written, registrations[:-1]))
            if written or (warned and not view.has_files):
                yield _finding(
                    name, key, registrations, None if warned and not (written and is_of_pytorch) else Severity.INFO
                )


def _finding(name: OperatorName, key: str, registrations: Sequence[Registration], severity: Severity | None) -> Finding:
    active, *replaced = registrations
    count = "another" if len(replaced) == 1 else f"{len(replaced)} others"
    return CHECK.finding(
        f"{name}: the kernel at {key} overrides {count}",
        name,
        key,
        at=active,
        related=[("an overridden kernel is registered here", entry.kernel.span) for entry in replaced],
        details=(("runs", active.kernel.label), ("replaced", ", ".join(entry.kernel.label for entry in replaced))),
        tip="remove one of the registrations; if the override is intended, suppress the finding with a reason",
        severity=severity,
    )


CHECK = Check.of(find, __doc__, "DC102", Severity.WARNING)
