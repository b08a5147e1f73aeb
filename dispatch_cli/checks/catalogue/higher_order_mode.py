"""A higher-order operator has implementations for the tracing modes.

`torch.compile` and `torch.export` call operators in three modes: FakeTensorMode computes shapes without data,
ProxyTorchDispatchMode records calls in a graph, and FunctionalTensorMode removes mutations (functionalization). A
higher-order operator needs an implementation for each. Without one the call raises "There was no rule registered for
HigherOrderOperator …" or, if `torch.export` traces above autograd, "Current active mode … not registered". Calls
without these modes work, so often the first user who compiles finds the gap. An implementation at
CompositeImplicitAutograd calls other operators before a mode is used; only tracing above autograd needs one for
ProxyTorchDispatchMode. For an operator that writes to its arguments (`mutates: true`), the implementation for
FunctionalTensorMode calls a functional form and writes the results back.

Bad, because there is an implementation for FakeTensorMode only:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CompositeExplicitAutograd: scale_with_impl}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: scale_with_fake}
```

Good:

```yaml
dispatch: 1
higher_order_operators:
  - name: scale_with
    dispatch: {CompositeExplicitAutograd: scale_with_impl}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: scale_with_fake, ProxyTorchDispatchMode: scale_with_proxy}
    functionalize: scale_with_functional
```

Fix: register the implementation (`@op.py_impl(FakeTensorMode)`, `@op.py_impl(ProxyTorchDispatchMode)`,
`@op.py_functionalize_impl`), and declare it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.higher_order import own_findings
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.universe import PRE_DISPATCH, autograd_key_of


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator that lacks implementations for such modes."""
    return own_findings(view, _of_operator)


def _of_operator(state: State, operator: HigherOrderOperator) -> Iterator[Finding]:
    """The finding about the modes in which a call fails for want of an implementation.

    An operator without an implementation for any backend is left out: PyTorch has some that no call gets to. A
    composite implementation calls other operators before a mode is asked, except for tracing above autograd.
    """
    from dispatch_cli.engine.call.higher_order.errors import not_registered
    from dispatch_cli.engine.call.higher_order.place import answer_at
    from dispatch_cli.engine.call.thread import INFRA_MODES, PROXY_MODE
    from dispatch_cli.engine.python.higher_order import Slot

    table = state.higher_order_table(operator)
    universe = table.universe
    backends = (key for key in universe.devices.values() if key in universe.slot)
    backend = next((key for key in backends if table.entry(key).slot is Slot.IMPL), None)
    if backend is None:
        return
    above = autograd_key_of(universe, backend)
    is_composite = above is not None and table.entry(above).decision.rule is Rule.MATH
    errors: dict[str, str] = {}
    for mode in INFRA_MODES:
        error = answer_at(table, ImplPlace(ImplKind.MODE, mode), state.modes).error
        if is_composite and error is not None:
            error = not_registered(mode) if mode == PROXY_MODE and not table.falls_through(PRE_DISPATCH) else None
        if error is not None:
            errors[mode] = error.text.partition("Hint:")[0].rstrip()  # PyTorch's hint is no error
    if not errors:
        return
    *first, last = errors
    outcome = f"calls in {'these modes' if first else 'this mode'} fail"
    if is_composite:
        outcome = "tracing above autograd fails (torch.export, make_fx(pre_dispatch=True))"
    yield CHECK.finding(
        f"{operator.name} has no implementation for {', '.join(first)}{' and ' if first else ''}{last}, so {outcome}",
        operator.name,
        details=tuple(errors.items()),
        span=operator.span,
        mark=operator.name,
        mark_follows=True,
        tip=f"`dispatch-cli explain {operator.name} {next(iter(errors))}` shows what to declare",
    )


CHECK = Check.of(find, __doc__, "DC601", Severity.WARNING)
