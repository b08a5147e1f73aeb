"""The files' changes of earlier registrations leave no slot without a kernel that had one.

The section `changes` of a file leaves registrations out, such as kernels of PyTorch. Another kernel or a backend
fallback then fills their slots, or nothing does; a call that gets to an empty slot raises "Could not run". If a
fallback is left out that falls through, calls no longer get past its key: without the one at BackendSelect, which the
key set of every call has, no operator without a kernel there can be called.

Each finding is about one operator, or about one fallback and all operators that have no kernel in its place. It has the
place of the change. It is an error if every call fails: if the operator has no kernel left, or if the key set of every
call has the key. What another check finds at the change, such as `no-autograd-kernel`, is not reported again.

Not reported: autograd keys whose backends had no kernel before, or have a default kernel where PyTorch has no fallback,
as at AutogradIPU; and keys that only tensors bring along, for an operator without tensor arguments.

Bad, because calls with CUDA tensors fail:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
changes:
  - remove: {operator: "demo::op", dispatch_key: CUDA}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CUDA: op_cuda, CompositeExplicitAutograd: op_any, Autograd: op_autograd}
changes:
  - remove: {operator: "demo::op", dispatch_key: CUDA}
```

Fix: register a kernel or a fallback where the slot is empty, or leave the change out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.checks.catalogue.shadowed_fallback import telling
from dispatch_cli.checks.check import Check, Finding, MissingPart, Need, Severity
from dispatch_cli.checks.emptied import emptied_slots
from dispatch_cli.checks.text import MAX_NAMED, keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName

OUTCOME = 'a call that gets there raises "Could not run"'


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator, and for every fallback, whose slots changes have emptied."""
    emptied = emptied_slots(view)
    for name, keys in emptied.operators.items():
        left = [key for key in keys if (str(name), key) not in view.told]
        if left:
            yield _of_operator(view, name, left)
    for key, names in emptied.fallbacks.items():
        others = [name for name in names if (str(name), key) not in view.told]
        if others and (None, key) not in view.told:
            yield _of_fallback(view, key, others, len(others) < len(names))


def _of_operator(view: View, name: OperatorName, keys: Sequence[str]) -> Finding:
    fails = not view.pattern(name).keys or not frozenset(keys).isdisjoint(view.universe.default_included)
    where = keys_text(keys)
    return CHECK.finding(
        f"{name} has nothing at {where} any more: {OUTCOME}",
        name,
        keys[0],
        details=(("keys", ", ".join(keys)),) if len(keys) > MAX_NAMED else (),
        tip=f"register a kernel {'at ' + where if len(keys) <= MAX_NAMED else 'there'}",
        severity=Severity.ERROR if fails else None,
        slots=[(name, key) for key in keys],
    )


def _of_fallback(view: View, key: str, names: Sequence[OperatorName], is_part: bool) -> Finding:
    """is_part: other checks find something about further operators."""
    more = len(names) - MAX_NAMED
    named = sorted(names, key=lambda name: telling(view, name))[:MAX_NAMED]
    listed = ", ".join(map(str, named)) + (f" and {more:,} more" if more > 0 else "")
    count = f"{len(names):,} {'other ' if is_part else ''}operator{'' if len(names) == 1 else 's'}"
    has = "has" if len(names) == 1 else "have"
    return CHECK.finding(
        f"without the backend fallback at {key}, {count} {has} nothing there: {OUTCOME}",
        key=key,
        details=(("operators", listed),),
        tip=f"register another fallback at {key}",
        severity=Severity.ERROR if key in view.universe.default_included else None,
        slots=[(name, key) for name in names],
    )


CHECK = Check.of(find, __doc__, "DC404", Severity.WARNING, needs=(Need.CHANGES,), lacks=MissingPart.KERNEL)
