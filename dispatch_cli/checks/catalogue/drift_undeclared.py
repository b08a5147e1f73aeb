"""Everything that the built library registers is declared.

Every answer ignores what is registered but not declared: a kernel that takes a slot from a composite one, or an
operator that no check looks at. `dispatch-cli crossref FILE --against live --import MODULE` reports what the imported
modules register: other operators in the namespaces in which the declarations define operators, kernels of any operator,
also of PyTorch's own, fake implementations and backwards of `torch.library`, and backend fallbacks. Operators in other
namespaces may be of another library that the modules import: they are counted, one finding with severity info for each
namespace. With `--op`, only the operators that it chooses are reported. A kernel that the declarations leave out
(`changes`), although it is registered, is reported as well, of PyTorch itself, too.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Bad, because the kernel at CUDA is not declared:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Fix: declare it, or remove the registration. `dispatch-cli capture --import MODULE` writes everything that is
registered.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is there and not declared."""
    from dispatch_cli.checks.drift import Drift

    drift = Drift(view)
    for part in drift.parts():
        if part.built and not part.declared:
            outcome = "and the declarations leave it out" if part.left_out else "but not declared"
            yield part.finding(CHECK, f"{'are' if part.several else 'is'} registered in {drift.source}, {outcome}")


CHECK = Check.of(find, __doc__, "DC702", Severity.WARNING, needs=(Need.BUILT,))
