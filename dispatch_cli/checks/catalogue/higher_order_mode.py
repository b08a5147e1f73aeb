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
from dispatch_cli.checks.higher_order import Unhandled, own_problems, unhandled_modes
from dispatch_cli.checks.view import View
from dispatch_cli.model.higher_order import HigherOrderOperator


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator that lacks implementations for such modes."""
    by_operator: dict[HigherOrderOperator, list[Unhandled]] = {}
    for operator, problem in own_problems(view, unhandled_modes):
        by_operator.setdefault(operator, []).append(problem)
    for operator, problems in by_operator.items():
        yield CHECK.finding(
            f"{operator.name} has no implementation for {'; and none for '.join(_lacking(problems))}",
            operator.name,
            details=tuple((problem.mode, problem.error) for problem in problems),
            span=operator.span,
            mark=operator.name,
            mark_follows=True,
            tip=f"`dispatch-cli explain {operator.name} {problems[0].mode}` shows what to declare",
        )


def _lacking(problems: list[Unhandled]) -> Iterator[str]:
    """Modes, and which calls fail without them."""
    modes = [problem.mode for problem in problems if not problem.above_autograd]
    if modes:
        yield f"{_words(modes)}, so calls in {'this mode' if len(modes) == 1 else 'these modes'} fail"
    above = [problem.mode for problem in problems if problem.above_autograd]
    if above:
        yield f"{_words(above)}, so tracing above autograd fails (torch.export, make_fx(pre_dispatch=True))"


def _words(modes: list[str]) -> str:
    *first, last = modes
    return f"{', '.join(first)} and {last}" if first else last


CHECK = Check.of(find, __doc__, "DC601", Severity.WARNING)
