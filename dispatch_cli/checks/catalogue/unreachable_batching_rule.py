"""Batching rules can be reached.

`torch.vmap` runs an operator's kernel at FuncTorchBatched, a key that batched tensors carry. A rule registered at the
alias key FuncTorchBatchedDecomposition fills only that slot, so a kernel at FuncTorchBatched itself shadows it
completely. An operator without tensor arguments never gets a batched tensor; if vmap changes it at all, then at
FuncTorchVmapMode. In some versions of PyTorch (2.4 among them) a registration at the alias key recomputes no slot: the
rule is used only when something else happens to recompute FuncTorchBatched later (pytorch/pytorch#166032).

A composite kernel fills the autograd keys. Under `vmap(grad(f))`, and likewise with `vjp`, `jvp` and `jacrev` inside
`vmap`, a call reaches autograd first: the composite kernel runs there, and the rule at FuncTorchBatched does not run.
The operators that the composite kernel calls may have no rule, or give other results than the rule
(pytorch/functorch#1009). A kernel at a backend keeps the composite kernel out of the backend's autograd key; if only
some backends have such a kernel, the finding is an info. In PyTorch 2.15, `aten::one_hot` is one of seven such
operators: it works under vmap, and raises under `vmap(grad(f))`, where it decomposes.

Bad, because no call of a factory function has a batched tensor:

```yaml
dispatch: 1
operators:
  - func: demo::ones(int size) -> Tensor
    dispatch: {CompositeExplicitAutograd: ones, FuncTorchBatched: ones_batched}
```

Bad, because `vmap(grad(f))` runs op_math:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, FuncTorchBatched: op_batched}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, FuncTorchBatchedDecomposition: op_math}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::twice(Tensor x) -> Tensor
    dispatch: {CPU: twice_cpu, Autograd: twice_autograd, FuncTorchBatched: twice_batched}
```

Fix: remove the rule, register it at FuncTorchBatched or, for a factory function, at FuncTorchVmapMode. For a composite
operator, register the composite kernel at FuncTorchBatchedDecomposition as the rule, and write rules for the operators
that it calls; or move the composite kernel to CompositeExplicitAutograd and write one for Autograd.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.changes.change import Action, Edit, Function
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import autograd_key_of

ALIASES = tuple(step.alias for step in PRECEDENCE if step.rule is Rule.BATCHED)
"""The alias keys of batching rules."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every batching rule that no call reaches."""
    rules = {key for alias in ALIASES for key in (alias, *view.universe.covered_by(alias))}
    autograd_keys = dict.fromkeys(autograd_key_of(view.universe, backend) for backend in view.universe.backends)
    for pattern in view.patterns:
        keys = [key for key in pattern.keys if key in rules and key not in pattern.fallthrough]
        if keys:
            composite = [key for key in autograd_keys if key is not None and pattern.rule(key) is Rule.MATH]
            everywhere = len(composite) == len(autograd_keys)
            for name in (name for name in pattern.operators if view.concerns(name, keys)):
                yield from _of_operator(view, pattern, name, keys)
                if composite and view.takes_tensors(name) is not False:
                    for key in (key for key in keys if key not in ALIASES):
                        yield from _below_composite(view, pattern, name, key, composite, everywhere)


def _of_operator(view: View, pattern: Pattern, name: OperatorName, keys: list[str]) -> Iterator[Finding]:
    if view.takes_tensors(name) is False:
        for key in keys:
            why = "the operator has no tensor arguments, so no call has a batched tensor"
            yield _finding(view, name, key, why, "remove the rule, or register it at FuncTorchVmapMode")
        return
    for alias in ALIASES:
        if alias not in keys:
            continue
        covered = view.universe.covered_by(alias)
        if all(pattern.decision(key).source != alias for key in covered):
            taken = [key for key in covered if key in pattern.keys]
            why = f"the kernel at {', '.join(taken)} takes the only slot that {alias} fills"
            yield _finding(view, name, alias, why, "remove one of the two", taken)
        elif not set(covered) <= set(view.universe.refreshed_by(alias)) and _is_by_chance(view, name, alias):
            why = (
                f"a registration at {alias} recomputes no slot in {view.universe.name}, and the rule is used only "
                f"because a later registration recomputed {', '.join(covered)}"
            )
            yield _finding(view, name, alias, why, f"register it at {covered[0]}", by_chance=True)


def _below_composite(
    view: View, pattern: Pattern, name: OperatorName, key: str, composite: list[str], everywhere: bool
) -> Iterator[Finding]:
    """A rule at *key* below autograd keys that the composite kernel fills (*composite*), or fills for all backends."""
    source = pattern.decision(composite[0]).source
    if source is None or pattern.decision(key).source != key:
        return
    active = view.active(name)
    rule, kernel = active[key], active[source]
    kind = rule.kernel.redispatches
    if kind is not None and kind.kind is RedispatchKind.OTHER_OPERATORS:
        return  # it decomposes as the composite kernel does
    written = view.is_written(rule) and everywhere
    yield CHECK.finding(
        f"{name}: under vmap(grad(f)) the batching rule {rule.kernel.debug} at {key} is not reached: "
        f"the {source} kernel runs before it, at {keys_text(composite)}",
        name,
        key,
        at=rule,
        related=[(f"the kernel at {source}", kernel.kernel.span)],
        details=(("autograd keys", ", ".join(composite)),),
        tip=f"register the {source} kernel at {ALIASES[0]} instead, and rules for the operators that it calls",
        subject="composite",
        severity=None if written else Severity.INFO,
        fix=_decomposed(view, name, rule, kernel),
    )


def _decomposed(view: View, name: OperatorName, rule: Registration, composite: Registration) -> tuple[Edit, ...]:
    """The composite kernel in the rule's place; none where one of them is not the user's own."""
    if not (view.is_written(rule) and view.is_written(composite)) or ALIASES[0] in view.active(name):
        return ()
    gone = Edit(Action.REMOVE, name, rule.key, kernel=rule.kernel.debug, span=rule.kernel.span)
    same = Edit(Action.REGISTER, name, ALIASES[0], Function.SAME, composite.key, composite.kernel.debug)
    return gone, same


def _is_by_chance(view: View, name: OperatorName, alias: str) -> bool:
    """True if a file registers the rule, and it is in use all the same; where it is not, the live table is stale."""
    if not view.is_written(view.active(name)[alias]):
        return False
    covered = view.universe.covered_by(alias)
    return not any(stale.canonical.key in covered for stale in view.dispatcher.stale_entries(name))


def _finding(
    view: View,
    name: OperatorName,
    key: str,
    why: str,
    tip: str,
    taken: list[str] | None = None,
    by_chance: bool = False,
) -> Finding:
    registration = view.active(name)[key]
    reached = "is reached only by chance" if by_chance else "is not reached"
    places = ((other, view.place(name, other)) for other in taken or ())
    return CHECK.finding(
        f"{name}: the batching rule {registration.kernel.debug} at {key} {reached}: {why}",
        name,
        key,
        at=registration,
        related=[(f"the kernel at {other}", place) for other, place in places],
        tip=tip,
        severity=None if view.is_written(registration) else Severity.INFO,
    )


CHECK = Check.of(find, __doc__, "DC305", Severity.WARNING)
