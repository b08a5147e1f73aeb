"""The live table equals the canonical one.

PyTorch keeps a live table per operator and recomputes, at each registration, only the slots that it believes the
registration can change. It can miss one. A call then runs a kernel that `_dispatch_dump_table` does not show, and
which one it is depends on the order of static initialisers, which is link order.

Bad, because the math kernel stays live at AutogradNestedTensor, where the table has op_autograd:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, Autograd: op_autograd, NestedTensorCPU: op_nested}
```

Good, because a kernel at a runtime key refreshes its own slot, in any order:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, AutogradNestedTensor: op_autograd, NestedTensorCPU: op_nested}
```

Fix: register in an order that leaves nothing behind or, better, so that the order does not matter: here, by a kernel
at AutogradNestedTensor itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.fixes import own_kernels
from dispatch_cli.checks.text import entry_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.model.names import OperatorName


def find(view: View) -> Iterator[Finding]:
    """A finding for every stale slot of every operator."""
    for name in view.touched:
        for stale in view.dispatcher.stale_entries(name):
            yield _finding(view, name, stale)


def _finding(view: View, name: OperatorName, stale: StaleEntry) -> Finding:
    key, cause = stale.canonical.key, stale.cause
    what = "backend fallback" if cause.fallback else "kernel"
    verb = "registering" if cause.came else "dropping"
    culprit = f"{verb} the {what} {cause.cause.kernel.debug} at {cause.key} did not recompute"
    message = (
        f"{name}: a call at {key} runs {entry_text(stale.live)}, but its registrations determine "
        f"{entry_text(stale.canonical)}; {culprit} {key}"
    )
    return CHECK.finding(
        message,
        name,
        key,
        details=(
            ("live", entry_text(stale.live)),
            ("canonical", entry_text(stale.canonical)),
            ("made stale by", f"{cause.cause.kernel.debug} at {cause.key}"),
        ),
        at=cause.cause,
        related=[
            (words, entry.kernel.span if entry.kernel is not None else None)
            for words, entry in (
                ("the live kernel is registered here", stale.live),
                ("the canonical one here", stale.canonical),
            )
        ],
        group_message=f"{name}: {culprit} every slot that it changes; calls there run what was live before",
        tip="register in an order that leaves nothing behind or, better, so that the order does not matter",
        fix=own_kernels(view, name, (key,)) if stale.canonical.rule is not Rule.BATCHED else (),
    )


CHECK = Check.of(find, __doc__, "DC004", Severity.ERROR)
