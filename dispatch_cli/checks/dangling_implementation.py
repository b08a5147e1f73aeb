"""Every operator with kernels has a schema.

Kernels of an operator that nothing defines can never be called: there is no schema to call them by. Usually the name is
misspelt, or the library that defines the operator is not loaded. PyTorch lists them in
`torch._C._dispatch_find_dangling_impls`.

Bad, because nothing defines the operator:

```yaml
dispatch: 1
operators:
  - name: demo::mull
    dispatch: {CPU: mul_cpu}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::mul(Tensor a, Tensor b) -> Tensor
    dispatch: {CPU: mul_cpu}
```

Fix: define the operator, correct its name, or load the declarations that define it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View

MAX_SUGGESTIONS = 20
"""Looking for a similar name compares with every operator, so only the first findings get a suggestion."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator without a schema."""
    dangling = [name for name in view.operators if view.schema_text(name) is None]
    defined = [str(name) for name in view.names if view.schema_text(name) is not None] if dangling else []
    for position, name in enumerate(dangling):
        kernels = [registration for registrations in view.kernels(name).values() for registration in registrations]
        keys = ", ".join(view.pattern(name).keys) or "no key"
        similar = get_close_matches(str(name), defined, n=1, cutoff=0.8) if position < MAX_SUGGESTIONS else []
        hint = f"; did you mean {similar[0]}?" if similar else ""
        spans = [registration.kernel.span for registration in kernels if registration.kernel.span is not None]
        yield CHECK.finding(
            f"{name} has kernels at {keys}, but nothing defines it{hint}",
            name,
            details=(("keys", keys),),
            span=min(spans, key=lambda span: (span.file, span.line, span.column), default=None),
            tip="define the operator, correct its name, or load the declarations that define it before",
        )


CHECK = Check(
    id="dangling-implementation",
    code="DC101",
    title="every operator with kernels has a schema",
    severity=Severity.ERROR,
    documentation=__doc__,
    find=find,
)
