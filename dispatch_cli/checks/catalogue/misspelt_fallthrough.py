"""No kernel's name is a misspelling of fallthrough.

In a declaration, the word `fallthrough` makes a key fall through. Any other text is the name of a kernel that runs
there. So `fallthru` declares a kernel of that name, and calls end in it instead of going on to the next key. In
quotes, as in JSON, `fallthrough` is such a name, too; `{fallthrough: true}` always makes the key fall through.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: fallthru}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: fallthrough}
```

Fix: write `fallthrough`. If the kernel really has that name, suppress the finding with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.edit import Action, Edit, fallthrough
from dispatch_cli.model.suggest import similar

WORD = "fallthrough"
CUTOFF = 0.75
"""Least similarity of a name to the word: `fallthru` and `falltrough` have it, `fallback` does not."""
IN_QUOTES = f"in quotes it is a name: write {WORD} without them, or {{{WORD}: true}}, as in JSON"
SPELLINGS = frozenset({"fallthroughkernel", "makefallthrough", "fallthrukernel"})
"""PyTorch's names for it in Python and C++, without underscores and capitals."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every kernel of the user's own with such a name, of operators and of backend fallbacks."""
    for name in view.touched:
        for registration in view.active(name).values():
            if _is_misspelt(registration) and view.is_written(registration):
                gone = Edit(
                    Action.REMOVE,
                    name,
                    registration.key,
                    kernel=registration.kernel.debug,
                    span=registration.kernel.span,
                )
                fix = (gone, fallthrough(name, registration.key))
                yield _finding(registration, str(name), f"{name}: the kernel at {registration.key}", fix)
    for key, registration in view.own_fallbacks.items():
        if _is_misspelt(registration):
            yield _finding(registration, None, f"the backend fallback at {key}", ())


def _is_misspelt(registration: Registration) -> bool:
    kernel = registration.kernel
    if kernel.fallthrough or kernel.function is None:
        return False
    plain = "".join(filter(str.isalnum, kernel.function.lower()))
    return plain in SPELLINGS or (plain.startswith("f") and bool(similar(plain, [WORD], cutoff=CUTOFF)))


def _finding(registration: Registration, operator: str | None, what: str, fix: tuple[Edit, ...]) -> Finding:
    return CHECK.finding(
        f"{what} is named {registration.kernel.function}, and does not fall through",
        operator,
        registration.key,
        span=registration.kernel.span,
        mark=registration.kernel.function,
        mark_follows=True,
        tip=IN_QUOTES if registration.kernel.function == WORD else f"did you mean {WORD}?",
        fix=fix,
    )


CHECK = Check.of(find, __doc__, "DC105", Severity.WARNING, needs=(Need.FILES,))
