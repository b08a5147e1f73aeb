"""No composite kernel at an autograd key bypasses a backend kernel.

A sparse CPU tensor carries the keys SparseCPU and AutogradCPU, and the autograd key comes first. A kernel at
CompositeImplicitAutograd fills AutogradCPU unless there is a kernel at CPU; one at SparseCPU, SparseCsrCPU or
QuantizedCPU does not count (`getBackendKeySetFromAutograd` in `c10/core/DispatchKeySet.cpp`). So the composite kernel
decomposes the call before it can reach the sparse kernel, with gradients and under no_grad alike. Only inference mode,
which excludes the autograd keys, reaches the sparse kernel. There is no error: results differ, or calls are slow. For
AutogradMTIA, AutogradHIP and AutogradVE no backend counts, so there even the device's own kernel is bypassed. At
AutogradOther PyTorch does notice, and refuses: see `ambiguous-autogradother`.

Bad, because AutogradCPU holds op_decomposition:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {SparseCPU: op_sparse, CompositeImplicitAutograd: op_decomposition, AutogradOther: op_autograd_other}
```

Bad, because a kernel at MTIA does not keep the composite kernel out of AutogradMTIA:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {MTIA: op_mtia, CompositeImplicitAutograd: op_decomposition}
universe: torch-2.15
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {SparseCPU: op_sparse, CompositeExplicitAutograd: op_default, Autograd: op_autograd}
```

Fix: register a kernel at the autograd key; or replace CompositeImplicitAutograd by CompositeExplicitAutograd and
Autograd.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import keys_text, own_kernels
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.table import bypassed
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL


def find(view: View) -> Iterator[Finding]:
    """A finding for every autograd key of an operator at which a math kernel keeps calls from backend kernels."""
    for pattern in view.patterns:
        if pattern.has(CATCH_ALL):
            keys = [key for key in pattern.keys if key not in pattern.fallthrough]
            skips = partial(pattern.falls_through, fallbacks=view.dispatcher.fallbacks)
            for above, culprits in bypassed(view.universe, keys, pattern.decision, skips).items():
                for name in pattern.operators:
                    if view.concerns(name, (*culprits, CATCH_ALL)):
                        yield _finding(view, name, above, culprits)


def _finding(view: View, name: OperatorName, above: str, past: tuple[str, ...]) -> Finding:
    where = keys_text(past)
    kernels = "kernel" if len(past) == 1 else "kernels"
    return CHECK.finding(
        f"{name}: outside inference mode, calls with {where} tensors run the {CATCH_ALL} kernel at {above}, not the "
        f"{kernels} at {where}",
        name,
        above,
        at=view.registration(name, past[0]),
        related=((f"the kernel at {CATCH_ALL} is registered here", view.place(name, CATCH_ALL)),),
        details=(("bypassed", ", ".join(past)),),
        tip=_tip(view, above),
        fix=own_kernels(view, name, (above,)),
    )


def _tip(view: View, above: str) -> str:
    """Advice on kernels to register. Some keys, such as AutogradMTIA, PyTorch's own parser does not know."""
    at_the_key = f"a kernel at {above}, or " if above in view.universe.parseable else ""
    return f"register {at_the_key}CompositeExplicitAutograd and Autograd instead of {CATCH_ALL}"


CHECK = Check.of(find, __doc__, "DC204", Severity.WARNING, lacks=MissingPart.KERNEL)
