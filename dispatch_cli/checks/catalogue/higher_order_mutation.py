"""A higher-order operator that writes to its arguments can be functionalized.

`torch.compile` and `torch.export` functionalize a program before they optimise it: they replace writes. For a
higher-order operator only its own implementation for functionalization knows how. Without one, AOTAutograd fails with
`There was no rule registered for HigherOrderOperator … and mode <FunctionalTensorMode>`. `make_fx` alone records the
call, and then dead-code elimination drops it if its result is not used, unless the operator is marked by
`torch.fx.node.has_side_effect`: the write is lost silently. Declarations say `mutates: true` for an operator that
writes; in PyTorch its `gen_schema` says so.

Bad, because the write is lost or the call fails:

```yaml
dispatch: 1
higher_order_operators:
  - name: add_to
    dispatch: {CompositeExplicitAutograd: add_to_impl}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: add_to_fake, ProxyTorchDispatchMode: add_to_proxy}
    mutates: true
```

Good:

```yaml
dispatch: 1
higher_order_operators:
  - name: add_to
    dispatch: {CompositeExplicitAutograd: add_to_impl}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: add_to_fake, ProxyTorchDispatchMode: add_to_proxy}
    functionalize: add_to_functional
    mutates: true
```

Fix: register an implementation with `@op.py_functionalize_impl` that calls a functional form and writes the results
back, as `auto_functionalized_v2` does for operators with a schema. Mark the operator with
`torch.fx.node.has_side_effect` if graphs keep its calls as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.higher_order import missing_functionalize, own_problems
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator that writes and has no implementation for functionalization."""
    for operator, problem in own_problems(view, missing_functionalize):
        dropped = ", and graphs drop calls whose result is not used" if problem.dropped else ""
        yield CHECK.finding(
            f"{operator.name} writes to its arguments but has no implementation for functionalization: compiling it "
            f"fails{dropped}",
            operator.name,
            details=(("error", problem.error),),
            span=operator.span,
            mark=operator.name,
            mark_follows=True,
            tip="register an implementation with op.py_functionalize_impl",
        )


CHECK = Check.of(find, __doc__, "DC603", Severity.ERROR)
