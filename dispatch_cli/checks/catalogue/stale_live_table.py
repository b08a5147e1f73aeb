"""The live table equals the canonical one.

PyTorch keeps a dispatch table for each operator, the live table. At each registration it recomputes only the slots that
it expects the registration to change, and it can miss one. A call then runs another kernel than the one that
`_dispatch_dump_table` computes (the canonical table). Which slots are stale depends on the order of static
initialisers, which is link order. Sources do not say in which order their files are linked: if the registrations of an
operator are in several source files, `order-sensitive` reports it instead.

A slot that keeps a kernel where the registrations determine the ambiguity error is an info:
`ambiguous-autogradother` reports the cause.

Bad, because AutogradNestedTensor keeps op_math, although the registrations determine op_autograd:

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

Fix: register a kernel at the stale slot's own key (here AutogradNestedTensor), which is right in any order; or change
the order of the registrations.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import entry_text, own_kernels
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.model.names import OperatorName


def find(view: View) -> Iterator[Finding]:
    """A finding for every stale slot of every operator."""
    for name in view.touched:
        if name in view.linked_in_any_order or view.schema_text(name) is None:  # order-sensitive reports it
            continue  # a later definition recomputes the table
        for stale in view.dispatcher.stale_entries(name):
            yield _finding(view, name, stale)


def _finding(view: View, name: OperatorName, stale: StaleEntry) -> Finding:
    key, cause = stale.canonical.key, stale.cause
    what = "backend fallback" if cause.fallback else "kernel"
    verb = "registering" if cause.came else "dropping"
    culprit = f"{verb} the {what} {cause.cause.kernel.debug} at {cause.key} did not recompute"
    message = (
        f"{name}: the slot {key} holds {entry_text(stale.live)}, but should hold {entry_text(stale.canonical)}: "
        f"{culprit} it"
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
                ("the canonical kernel is registered here", stale.canonical),
            )
        ],
        group_message=f"{name}: {culprit} every slot that it changes; the stale slots keep what they held before",
        tip="register a kernel at the stale slot's own key, or change the order of the registrations",
        fix=own_kernels(view, name, (key,)) if stale.canonical.rule is not Rule.BATCHED else (),
        severity=Severity.INFO if stale.canonical.rule is Rule.AMBIGUOUS else None,
    )


CHECK = Check.of(find, __doc__, "DC004", Severity.ERROR)
