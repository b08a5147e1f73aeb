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
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName

MAX_SUGGESTIONS = 20
"""Looking for a similar name compares with every operator, so only the first findings get a suggestion."""


def find(state: State, names: tuple[OperatorName, ...]) -> Iterator[Finding]:
    """A finding for every operator without a schema."""
    dispatcher = state.dispatcher
    dangling = [name for name in names if dispatcher.operator(name).definition is None]
    defined = [str(name) for name in dispatcher if dispatcher.operator(name).definition] if dangling else []
    for position, name in enumerate(dangling):
        kernels = [
            registration
            for key in sorted(dispatcher.operator(name).kernels, key=dispatcher.universe.ids.__getitem__)
            for registration in dispatcher.operator(name).kernels[key]
        ]
        keys = ", ".join(dict.fromkeys(registration.key for registration in kernels)) or "no key"
        similar = get_close_matches(str(name), defined, n=1, cutoff=0.8) if position < MAX_SUGGESTIONS else []
        hint = f"; did you mean {similar[0]}?" if similar else ""
        spans = [registration.kernel.span for registration in kernels if registration.kernel.span is not None]
        yield Finding(
            check=CHECK.id,
            severity=Severity.ERROR,
            message=f"{name} has kernels at {keys}, but nothing defines it{hint}",
            operator=str(name),
            details=(("keys", keys),),
            span=min(spans, key=lambda span: (span.file, span.line, span.column), default=None),
        )


CHECK = Check("dangling-implementation", "every operator with kernels has a schema", __doc__, find)
