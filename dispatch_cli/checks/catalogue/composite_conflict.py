"""No operator has kernels at both CompositeImplicitAutograd and CompositeExplicitAutograd.

A CompositeImplicitAutograd kernel decomposes into other operators, and autograd differentiates those. A
CompositeExplicitAutograd kernel is a backend kernel for every backend, and its derivative is registered separately.
With both, the explicit one fills every slot that both cover. It also counts as a backend kernel for every autograd key,
which keeps the implicit one out of the autograd slots: the derivative of the implicit one is never used. PyTorch's own
helper refuses the pair (`torch/_python_dispatcher.py`: "Registration to both CompositeImplicitAutograd and
CompositeExplicitAutograd is not allowed"), and so does torchgen (`torchgen/model.py`); nothing checks the registrations
of a library.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CompositeExplicitAutograd: op_kernel
      CompositeImplicitAutograd: op_decomposition
      Autograd: op_autograd
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CompositeExplicitAutograd: op_kernel
      Autograd: op_autograd
```

Fix: keep one of the two: CompositeImplicitAutograd if the kernel calls only differentiable operators, otherwise
CompositeExplicitAutograd with a kernel at Autograd.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.text import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.universe import EXPLICIT, IMPLICIT


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator with both kernels."""
    for pattern in view.patterns:
        if pattern.has(IMPLICIT) and pattern.has(EXPLICIT):
            left = tuple(key for key in view.universe.slots if pattern.decision(key).source == IMPLICIT)
            yield from _of_pattern(view, pattern, left)


def _of_pattern(view: View, pattern: Pattern, left: tuple[str, ...]) -> Iterator[Finding]:
    rest = f"the implicit one fills only {keys_text(left)}" if left else "the implicit one is never used"
    for name in pattern.operators:
        if not view.concerns(name, (IMPLICIT, EXPLICIT)):
            continue
        implicit, explicit = (view.place(name, key) for key in (IMPLICIT, EXPLICIT))
        yield CHECK.finding(
            f"{name} has kernels at both {IMPLICIT} and {EXPLICIT}; {rest}",
            name,
            EXPLICIT,
            span=explicit or implicit,
            mark=EXPLICIT if explicit is not None else IMPLICIT,
            related=() if explicit is None else [(f"the kernel at {IMPLICIT} is registered here", implicit)],
            tip=f"keep {IMPLICIT} if its kernel calls only differentiable operators, otherwise {EXPLICIT} and Autograd",
        )


CHECK = Check.of(find, __doc__, "DC103", Severity.WARNING)
