"""The guards of the declarations hold.

A guard says what must be true of the computed table at certain keys of certain operators, so that CI notices when a new
registration takes a slot away. Guards come from the declarations, from files that these
extend, and from files given with `--guards`.

Bad, because CUDA is empty:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
guards:
  - {op: "demo::*", key: CUDA, rule: kernel}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
guards:
  - {op: "demo::*", key: CUDA, rule: kernel}
```

Fix: register what the guard requires, or change the guard if the new result is intended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.checks.guarding import Violation
    from dispatch_cli.model.calls.guard import Guard


def find(view: View) -> Iterator[Finding]:
    """A finding for every slot that is not as a guard wants it. Errors: InputError when it is too much work."""
    if not view.state.declarations.guards:
        return
    from dispatch_cli.checks.guarding import Guards

    guards = Guards(view)
    for guard in view.state.declarations.guards:
        for name, violations in guards.broken(guard):
            yield from (finding_of(view, guard, name, violation) for violation in violations)


def finding_of(view: View, guard: Guard, name: OperatorName, violation: Violation) -> Finding:
    """The finding for a guard that does not hold.

    One finding for all slots of an operator that hold the same; its key is the first of them."""
    wanted, keys = violation.wanted, violation.keys
    holds = "it holds" if len(keys) == 1 else "they hold"
    message = f"{name}: the guard requires {wanted} at {keys_text(keys)}, but {holds} {violation.found}"
    slots = (("keys", ", ".join(keys)),) if len(keys) > 1 else ()
    reason = (("reason", guard.reason),) if guard.reason is not None else ()
    finding = CHECK.finding(
        message,
        name,
        keys[0],
        details=(("wanted", wanted), ("found", violation.found), *slots, *reason),
        span=guard.span,
        mark=(guard.keys or guard.ops)[0],
        mark_follows=True,
        related=_related(view, guard, name, violation),
        subject=wants_text(guard),
    )
    return finding._replace(shared=f"the guard requires {wanted}")


def _related(view: View, guard: Guard, name: OperatorName, violation: Violation) -> Iterator[tuple[str, Span | None]]:
    entry = violation.entry
    yield "the kernel in the slot is registered here", entry.kernel.span if entry.kernel is not None else None
    for key in view.dispatcher.keys_in(entry.decision.blockers):
        yield f"the kernel at {key} is registered here", view.place(name, key)
    yield from (("the guard is loaded through this entry", span) for span in guard.through)


def wants_text(guard: Guard) -> str:
    """Expectations of a guard, as a text that stays the same when the guard moves."""
    return "; ".join(f"{want.field.value}: {', '.join(want.texts)}" for want in guard.wants)


CHECK = Check.of(find, __doc__, "DC901", Severity.ERROR)
