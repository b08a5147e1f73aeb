"""An operator without tensor arguments can be called.

A call takes its dispatch keys from its tensor arguments. A factory function has none; there remain the keys that every
call has, BackendSelect and ADInplaceOrView. Unless the operator has kernels at these, they fall through, and the call
ends at the slot Undefined. A device argument changes nothing. Kernels at CPU or AutogradCPU are then never reached. If
Undefined is empty, PyTorch raises "There were no tensor arguments to this function (e.g., you passed an empty list of
Tensors), but no fallback function is registered for schema …" (pytorch/pytorch#129389, #60997).

Bad, because no call reaches CPU:

```yaml
dispatch: 1
operators:
  - func: demo::filled(int size, *, Device device) -> Tensor
    dispatch: {CPU: filled_cpu}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::filled(int size, *, Device device) -> Tensor
    dispatch: {BackendSelect: filled_by_device, CPU: filled_cpu}
  - func: demo::opened(str path) -> Tensor
    dispatch: {CompositeExplicitAutograd: opened}
```

Fix: register a kernel at BackendSelect that reads the device and redispatches with its key; or, if the kernel makes the
tensor with other operators, register it at CompositeExplicitAutograd, which fills Undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import keys_text, own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.table.table import unreachable_without_tensors
from dispatch_cli.model.universe import BACKEND_SELECT, UNDEFINED


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator without tensor arguments whose calls end at an empty Undefined."""
    for pattern in view.patterns:
        skips = partial(pattern.falls_through, fallbacks=view.dispatcher.fallbacks)
        keys = unreachable_without_tensors(view.universe, pattern.keys, pattern.decision, skips)
        if keys:
            yield from _of_pattern(view, pattern, keys)


def _of_pattern(view: View, pattern: Pattern, keys: tuple[str, ...]) -> Iterator[Finding]:
    for name in pattern.operators:
        if view.takes_tensors(name) is False and view.concerns(name, keys):
            from dispatch_cli.engine.call.options import is_factory

            yield CHECK.finding(
                f"{name} takes no tensors: calls end at {UNDEFINED}, which is empty, and never reach {keys_text(keys)}",
                name,
                UNDEFINED,
                at=view.registration(name, keys[0]),
                details=(("unreachable", ", ".join(keys)),),
                fix=own_kernels(view, name, (BACKEND_SELECT,)) if is_factory(view.schema(name)) else (),
                tip="register a kernel at BackendSelect that chooses the backend by the device; or register the kernel "
                "at CompositeExplicitAutograd",
            )


CHECK = Check.of(find, __doc__, "DC301", Severity.ERROR, lacks=MissingPart.KERNEL)
