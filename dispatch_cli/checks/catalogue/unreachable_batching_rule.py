"""Batching rules can be reached.

`torch.vmap` runs an operator's kernel at FuncTorchBatched, a key that batched tensors bring along. A rule registered
at the alias FuncTorchBatchedDecomposition fills that slot alone, so a kernel at FuncTorchBatched itself shadows it
altogether. An operator without tensor arguments never meets a batched tensor, and vmap changes it, if at all, at
FuncTorchVmapMode. In some versions of PyTorch (2.4 among them) a registration at the alias recomputes no slot: the
rule is used only when something else happens to recompute FuncTorchBatched later (pytorch/pytorch#166032).

Bad, because no call of a factory has a batched tensor:

```yaml
dispatch: 1
operators:
  - func: demo::ones(int size) -> Tensor
    dispatch: {CompositeExplicitAutograd: ones, FuncTorchBatched: ones_batched}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::twice(Tensor x) -> Tensor
    dispatch: {CPU: twice_cpu, Autograd: twice_autograd, FuncTorchBatched: twice_batched}
```

Fix: leave the rule out, register it at FuncTorchBatched, or, for a factory, at FuncTorchVmapMode.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.names import OperatorName

ALIASES = tuple(one.alias for one in PRECEDENCE if one.rule is Rule.BATCHED)
"""The alias keys of batching rules."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every batching rule that no call reaches."""
    rules = {key for alias in ALIASES for key in (alias, *view.universe.covered_by(alias))}
    for pattern in view.patterns:
        keys = [key for key in pattern.keys if key in rules and key not in pattern.fallthrough]
        if keys:
            for name in (name for name in pattern.operators if view.concerns(name, keys)):
                yield from _of_operator(view, pattern, name, keys)


def _of_operator(view: View, pattern: Pattern, name: OperatorName, keys: list[str]) -> Iterator[Finding]:
    if view.takes_tensors(name) is False:
        for key in keys:
            why = "the operator has no tensor arguments, so that no call has a batched tensor"
            yield _finding(view, name, key, why, "leave it out, or register at FuncTorchVmapMode")
        return
    for alias in ALIASES:
        if alias not in keys:
            continue
        covered = view.universe.covered_by(alias)
        if all(pattern.decision(key).source != alias for key in covered):
            taken = [key for key in covered if key in pattern.keys]
            why = f"the kernel at {', '.join(taken)} takes the only slot that {alias} fills"
            yield _finding(view, name, alias, why, "leave one of the two out", taken)
        elif not set(covered) <= set(view.universe.refreshed_by(alias)) and _is_by_chance(view, name, alias):
            why = (
                f"a registration at {alias} recomputes no slot in {view.universe.name}; the rule is in use only "
                f"because something registered later recomputed {', '.join(covered)}"
            )
            yield _finding(view, name, alias, why, f"register it at {covered[0]}", by_chance=True)


def _is_by_chance(view: View, name: OperatorName, alias: str) -> bool:
    """Whether a file registers the rule, and it is in use all the same; where it is not, the live table is stale."""
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
    reached = "is reached by chance" if by_chance else "is not reached"
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
