"""No kernels at CompositeImplicitAutograd and CompositeExplicitAutograd at once.

One says: I decompose, and autograd goes through the parts. The other says: I am a backend kernel for every backend,
and autograd is registered apart. The explicit one wins at every key that it covers, and by being there it takes every
autograd key from the implicit one, which then has no derivative anywhere. PyTorch's own helper refuses the pair
(`torch/_python_dispatcher.py`: "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is not
allowed"), and so does torchgen (`torchgen/model.py`); a library's registrations are not checked.

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

Fix: keep one of the two: CompositeImplicitAutograd when the kernel is made of differentiable operators, otherwise
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
    rest = f"the first is left with {keys_text(left)}" if left else "the first is used nowhere"
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
            tip=f"keep {IMPLICIT} if it is made of differentiable operators, otherwise {EXPLICIT} and Autograd",
        )


CHECK = Check.of(find, __doc__, "DC103", Severity.WARNING)
