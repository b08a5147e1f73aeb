"""Everything that is declared is registered by the built library.

Every answer is only as right as the declarations. `dispatch-cli crossref FILE --against live --import MODULE` imports
the library into a PyTorch and compares the declarations with what is registered there. This check reports an operator,
a kernel, a backend fallback, or a fake implementation or a backward of `torch.library` that is declared but not
registered: it was removed or renamed in the sources, it is in a part that was not built (a CUDA kernel
in a CPU build), or nothing imports the module that registers it. A kernel of PyTorch's own at the same key does not
count: only what the modules of `--import` register does. Debug texts are not compared.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Bad, because the library has no kernel at CUDA:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Fix: remove the declaration, or register what it declares. If it is right for other builds, keep it in a file of its
own, or suppress the finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is declared and not there."""
    from dispatch_cli.checks.drift import Drift

    drift = Drift(view)
    for part in drift.parts():
        if part.declared and not part.built:
            where = f"in {drift.source}"
            if part.pytorchs is not None:
                where = f"by the library: the one there in {drift.source} is PyTorch's own"
            yield part.finding(CHECK, f"is declared, but not registered {where}")


CHECK = Check.of(find, __doc__, "DC701", Severity.ERROR, needs=(Need.BUILT,))
