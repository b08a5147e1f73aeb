"""The guards of the declarations hold.

A guard says what must be true of the computed table at certain keys of certain operators, so that CI notices when a new
registration takes a slot away. A guard that matches no operator or no key is broken too: it guards nothing.

Bad, because the CPU kernel takes AutogradCPU away from the math kernel:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math}
guards:
  - {op: "demo::*", key: AutogradCPU, rule: math}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math, AutogradCPU: op_autograd}
guards:
  - {op: "demo::*", key: AutogradCPU, rule: kernel}
```

Fix: register what the guard asks for, or change the guard when the new answer is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from dispatch_cli.checks.check import Check, Finding, Related, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.engine.table import TableEntry
from dispatch_cli.model.declarations import Guard
from dispatch_cli.model.names import OperatorName


def find(view: View) -> Iterator[Finding]:
    """A finding for every slot that breaks a guard, and for every guard that matches nothing at all."""
    slots = view.universe.slots
    for guard in view.state.declarations.guards:
        keys = [key for key in slots if fnmatchcase(key, guard.key)]
        guarded = [name for name in view.names if fnmatchcase(str(name), guard.op)]
        if not keys or not (guarded or any(fnmatchcase(name, guard.op) for name in view.broken)):
            message = f"the guard matches nothing: no operator {guard.op} has a slot {guard.key}"
            yield CHECK.finding(message, span=guard.span)
            continue
        for name in guarded:
            if view.guarded is None or name in view.guarded:
                yield from _find_broken(guard, name, view.dispatcher, keys)


def _find_broken(guard: Guard, name: OperatorName, dispatcher: Dispatcher, keys: Iterable[str]) -> Iterator[Finding]:
    table = dispatcher.table(name)
    for key in keys:
        entry = table[key]
        reason = _broken(guard, entry)
        if reason is not None:
            yield _finding(guard, name, entry, reason, dispatcher.keys_in(entry.decision.blockers))


def _broken(guard: Guard, entry: TableEntry) -> str | None:
    """What the guard asked for, when the entry does not do it."""
    rule, kernel = entry.rule.value, entry.kernel.debug if entry.kernel else None
    if guard.rule is not None and rule != guard.rule:
        return f"rule {guard.rule}"
    if guard.not_rule is not None and rule == guard.not_rule:
        return f"anything but rule {guard.not_rule}"
    if guard.kernel is not None and (kernel is None or not fnmatchcase(kernel, guard.kernel)):
        return f"kernel {guard.kernel}"
    if guard.not_kernel is not None and kernel is not None and fnmatchcase(kernel, guard.not_kernel):
        return f"any kernel but {guard.not_kernel}"
    return None


def _finding(guard: Guard, name: OperatorName, entry: TableEntry, wanted: str, blockers: tuple[str, ...]) -> Finding:
    kernel = entry.kernel
    found = f"{kernel.debug} by rule {entry.rule.value}" if kernel is not None else "nothing (missing)"
    if blockers:
        noun = "kernel" if len(blockers) == 1 else "kernels"
        found += f", because of the {noun} at {', '.join(blockers)}"
    related = (Related("the kernel in the slot is registered here", kernel.span),) if kernel and kernel.span else ()
    return CHECK.finding(
        f"{name}: the guard wants {wanted} at {entry.key}, which holds {found}",
        name,
        entry.key,
        details=(("wanted", wanted), ("found", found)),
        span=guard.span,
        related=related,
    )


CHECK = Check(
    id="guard",
    code="DC901",
    title="the guards of the declarations hold",
    severity=Severity.ERROR,
    documentation=__doc__,
    find=find,
)
