"""Every guard matches something.

A guard whose operators or keys match nothing guards nothing: the operator was renamed or removed, its name is misspelt,
the state that has it was not loaded, or only another PyTorch version has the dispatch key. Each glob of a list must
match. An operator that is defined under other conditions is there.

Bad, because there is no operator `demo::opp`:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
guards:
  - {op: "demo::opp*", key: CPU, rule: kernel}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
guards:
  - {op: "demo::op*", key: CPU, rule: kernel}
```

Fix: correct the name, load the declarations that define it, or remove the guard. For a key of another PyTorch version,
keep the guard in a file that only that version is checked with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.checks.catalogue.guard import wants_text
from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import DEFAULT_OVERLOAD, NO_DEFAULT_OVERLOAD
from dispatch_cli.model.text.suggest import suggestion

if TYPE_CHECKING:
    from dispatch_cli.model.calls.guard import Guard

MAX_SUGGESTIONS = 10
"""Looking for a similar name compares with every operator, so only the first findings get a suggestion."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every glob of a guard that matches nothing."""
    if not view.state.declarations.guards:
        return
    from dispatch_cli.checks.guarding import Guards

    guards = Guards(view)
    count = 0
    for guard in view.state.declarations.guards:
        for what, glob in guards.unmatched(guard):
            tip = _tip(view, what, glob) if count < MAX_SUGGESTIONS else None
            count += 1
            yield finding_of(guard, what, glob, tip)


def finding_of(guard: Guard, what: str, glob: str, tip: str | None = None) -> Finding:
    """The finding for a glob that matches nothing. what: the word for what it should match."""
    return CHECK.finding(
        f"the guard's pattern {glob} matches no {what}",
        span=guard.span,
        mark=glob,
        mark_follows=True,
        related=[("the guard is loaded through this entry", span) for span in guard.through],
        tip=tip,
        subject=f"{glob}: {wants_text(guard)}",
    )


def _tip(view: View, what: str, glob: str) -> str | None:
    if what == "operator" and glob.endswith(DEFAULT_OVERLOAD):
        return NO_DEFAULT_OVERLOAD
    if what == "operator" and view.state.higher_order_operator(glob) is not None:
        return "higher-order operators have no guards"
    if what == "operator":
        return suggestion(glob, map(str, view.names))
    if any(sign in glob for sign in "*?["):
        return suggestion(glob, view.universe.slots)
    # a name that no version has is refused when the file is read
    return f"{view.universe.name} has no such key; other versions of PyTorch have it"


CHECK = Check.of(find, __doc__, "DC902", Severity.ERROR)
