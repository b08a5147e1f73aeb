"""A higher-order operator with a backend implementation has one for autograd.

An ordinary operator without an autograd kernel has PyTorch's fallback there. Higher-order operators do not use backend
fallbacks: `HigherOrderOperator.dispatch` raises "could not find kernel for HigherOrderOperator …" for every tensor that
carries an autograd key, whether it requires a gradient or not. Only inference mode excludes these keys, so a test under
`torch.inference_mode()` passes. If only AutogradOther is missing, the key of mkldnn tensors and rare backends, it is an
info. So it is if other backends have what they need, and those that do not share one implementation for all backends:
the operator is meant for some of them.

Bad, because every call with a CPU tensor fails at AutogradCPU:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CPU: scale_with_cpu}
    modes: {FakeTensorMode: scale_with_fake, ProxyTorchDispatchMode: scale_with_proxy}
    functionalize: scale_with_functional
```

Good, because calls redispatch below autograd, and backward() says that there is no derivative:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CPU: scale_with_cpu}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: scale_with_fake, ProxyTorchDispatchMode: scale_with_proxy}
    functionalize: scale_with_functional
```

Fix: register a derivative with `@op.py_autograd_impl`; if there is none,
`op.py_autograd_impl(autograd_not_implemented(op, deferred_error=True))`. For an operator without tensors in its result,
`op.fallthrough` at the autograd keys is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.higher_order import own_findings
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind
from dispatch_cli.model.universe import AUTOGRAD_OTHER, autograd_key_of, backend_keys


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator that has implementations of backends, and nothing at their autograd keys."""
    return own_findings(view, _of_operator)


def _of_operator(state: State, operator: HigherOrderOperator) -> Iterator[Finding]:
    """The finding about the autograd keys at which calls fail before they get to the implementation of a backend."""
    from dispatch_cli.engine.python.higher_order import Slot

    table = state.higher_order_table(operator)
    universe = table.universe
    lacking: dict[str, str] = {}
    registered = {impl.name for impl in operator.impls if impl.kind is ImplKind.DISPATCH}
    is_by_alias, others_work = True, False
    for key in backend_keys(universe):
        above = autograd_key_of(universe, key)
        if above is None or not table.is_implemented(key):
            continue
        entry = table.entry(above)
        if entry.slot in (Slot.NO_IMPL, Slot.MISSING):
            lacking[above] = entry.error or ""
            is_by_alias = is_by_alias and key not in registered
        else:
            others_work = True
    if not lacking:
        return
    ordered = sorted(lacking, key=universe.slot.__getitem__)
    keys, those = keys_text(ordered), "that backend" if len(ordered) == 1 else "those backends"
    is_info = others_work and (is_by_alias or ordered == [AUTOGRAD_OTHER])
    yield CHECK.finding(
        f"{operator.name} has no implementation at {keys}, so calls with tensors of {those} fail, except in "
        "inference mode",
        operator.name,
        ordered[0],
        details=(("keys", keys), ("error", lacking[ordered[0]])),
        span=operator.span,
        mark=operator.name,
        mark_follows=True,
        tip="register a derivative with op.py_autograd_impl; if there is none, register "
        "autograd_not_implemented(op, deferred_error=True)",
        severity=Severity.INFO if is_info else None,
    )


CHECK = Check.of(find, __doc__, "DC602", Severity.ERROR)
