"""Schemas and fallthroughs are declared as the built library registers them.

The operator or the kernel is registered, but not as it is declared: its schema, its alias analysis or its tags (where
the declarations have some) are others, or one of the two is a fallthrough and the other a kernel that runs, or one is a
fake implementation and the other a kernel of another kind. `dispatch-cli crossref FILE --against live --import MODULE`
reports it. Debug texts are not compared: they change with every line of the sources.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Bad, because the library's operator has another argument:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Bad, because the library's kernel at AutocastCPU falls through:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: op_cast}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Fix: declare what the library registers, or change the library.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for every schema and every kernel that is not as it is declared."""
    from dispatch_cli.checks.drift import Drift

    for part in Drift(view).parts():
        if part.difference is not None:
            yield part.finding(CHECK, part.difference)


CHECK = Check.of(find, __doc__, "DC703", Severity.ERROR, needs=(Need.BUILT,))
