"""Calls of a higher-order operator get past the autograd keys.

An ordinary operator without an autograd kernel has PyTorch's fallback there. Higher-order operators do not use backend
fallbacks: `HigherOrderOperator.dispatch` raises "could not find kernel for HigherOrderOperator …" for every tensor that
carries an autograd key, whether it requires a gradient or not. Only inference mode leaves these keys out, so that a
test under `torch.inference_mode()` passes. Where AutogradOther alone is left out, of mkldnn tensors and rare backends,
it is an info.

Bad, because every call with a CPU tensor fails at AutogradCPU:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CPU: scale_with_cpu}
    modes: {FakeTensorMode: scale_with_fake, ProxyTorchDispatchMode: scale_with_proxy}
    functionalize: scale_with_functional
```

Good, because calls go on below autograd, and backward() says that there is no derivative:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CPU: scale_with_cpu}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: scale_with_fake, ProxyTorchDispatchMode: scale_with_proxy}
    functionalize: scale_with_functional
```

Fix: register a derivative with `@op.py_autograd_impl`, or `op.py_autograd_impl(autograd_not_implemented(op,
deferred_error=True))` where there is none; of an operator without tensors in its result, `op.fallthrough` at the
autograd keys will do.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.higher_order import missing_autograd, own_problems
from dispatch_cli.checks.text import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.universe import AUTOGRAD_OTHER


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator that has implementations of backends, and nothing at their autograd keys."""
    for operator, problem in own_problems(view, missing_autograd):
        keys = keys_text(problem.keys)
        yield CHECK.finding(
            f"{operator.name} has nothing at {keys}, so that calls with tensors of these backends fail, except in "
            "inference mode",
            operator.name,
            problem.keys[0],
            details=(("keys", keys), ("error", problem.error)),
            span=operator.span,
            mark=operator.name,
            mark_follows=True,
            severity=Severity.INFO if problem.others and problem.keys == (AUTOGRAD_OTHER,) else None,
        )


CHECK = Check.of(find, __doc__, "DC602", Severity.ERROR)
