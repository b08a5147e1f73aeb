"""Every kernel fills a slot of the dispatch table.

A kernel at an alias key fills the slots that no registration of higher precedence fills. If all of them are taken, it
never runs. The usual case is a kernel at Autograd beside one at CompositeImplicitAutograd, which covers every autograd
key and has precedence (rules 6 and 7 of `dispatch-cli rules`): the derivative written for the operator is not the one
in use. `aten::max_pool2d` of PyTorch 2.4 to 2.15 is such an operator.

`overridden-kernel` reports kernels that a newer one at the same key overrides.

Bad, because the decomposition fills every autograd key:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_decomposition, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_kernel, Autograd: op_autograd}
```

Fix: remove the kernel; or register the kernel that fills its slots at CompositeExplicitAutograd or at the backends.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule


def find(view: View) -> Iterator[Finding]:
    """A finding for every key of an operator with a kernel that fills no slot."""
    for pattern in view.patterns:
        used = {decision.source for decision in pattern.plan.decisions}
        unused = [key for key in pattern.keys if key not in used and not _may_be_used(view, pattern, key)]
        for key in unused:
            yield from _of_pattern(view, pattern, key)


def _may_be_used(view: View, pattern: Pattern, key: str) -> bool:
    """True if the kernel could fill a slot that is not known."""
    if not view.layout.incomplete:
        return False
    return any(pattern.rule(slot) is Rule.NOT_KNOWN for slot in view.universe.covered_by(key))


def _of_pattern(view: View, pattern: Pattern, key: str) -> Iterator[Finding]:
    why = _why(view, pattern, key)
    for name in pattern.operators:
        if view.concerns(name, (key,)):
            yield CHECK.finding(
                f"{name}: the kernel at {key} is never used: {why}",
                name,
                key,
                at=view.registration(name, key),
                tip="remove the kernel, or those that fill its slots",
            )


def _why(view: View, pattern: Pattern, key: str) -> str:
    """Explanation of what fills the slots that the kernel could fill."""
    slots = view.universe.covered_by(key)
    sources = (pattern.decision(slot).source for slot in slots)
    first = [source for source in dict.fromkeys(sources) if source is not None]
    if not slots:
        return f"the table has no slot for {key}"
    return f"its slots hold the kernel{'' if len(first) == 1 else 's'} at {keys_text(first)} instead"


CHECK = Check.of(find, __doc__, "DC104", Severity.WARNING)
