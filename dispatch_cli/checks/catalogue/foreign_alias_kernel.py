"""Only the library that defines an operator registers kernels for it at alias keys.

An alias key stands for many runtime keys. A kernel at one of them, registered for an operator of another library,
serves the tensors of all backends, not only those of the backend that the files are about, and calls change with every
such file that is loaded. "We only allow registrations to alias keys inside pytorch core library … you shouldn't
register a CompositeImplicitAutograd or CompositeExplicitAutograd kernel from torch-xla extension, instead you should
upstream the kernel", says `torch/_python_dispatcher.py`.

Reported are registrations of your own files at alias keys of operators that are defined elsewhere: in a PyTorch state,
or in files that yours extend. Not reported are those with conditions for an operator that your files define where
PyTorch lacks it.

Bad, because im2col_npu now runs on every backend without a kernel of its own:

```yaml
dispatch: 1
extends: [torch-2.15]
operators:
  - name: aten::im2col
    dispatch: {CompositeExplicitAutograd: im2col_npu}
```

Good:

```yaml
dispatch: 1
extends: [torch-2.15]
fallbacks: {AutocastPrivateUse1: fallthrough}
operators:
  - name: aten::im2col
    dispatch: {PrivateUse1: im2col_npu}
  - name: aten::im2col.out
    dispatch: {PrivateUse1: im2col_out_npu}
```

Fix: register at the runtime keys of your own backend.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.catalogue.dangling_implementation import is_defined_otherwise
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName


def find(view: View) -> Iterator[Finding]:
    """A finding for every alias key of another library's operator at which the user's files register a kernel."""
    for name in view.operators:
        if name not in view.own or view.is_defined_by_files(name) or view.schema_text(name) is None:
            continue
        for key, registration in view.active(name).items():
            comes_with_operator = registration.kernel.when and is_defined_otherwise(view, name)
            if view.universe.is_alias(key) and view.is_written(registration) and not comes_with_operator:
                yield _finding(view, name, key)


def _finding(view: View, name: OperatorName, key: str) -> Finding:
    pattern = view.pattern(name)
    filled = tuple(slot for slot in view.universe.slots if pattern.decision(slot).source == key)
    fills = f"fills {keys_text(filled)}" if filled else "fills nothing now"
    taken = _taken(view, name, filled)
    which = "which" if taken == filled else f"of which {keys_text(taken)}"
    takes = f", {which} had another kernel before" if taken else ""
    return CHECK.finding(
        f"{name} belongs to another library, but the kernel at the alias key {key} serves every backend: it "
        f"{fills}{takes}",
        name,
        key,
        at=view.registration(name, key),
        tip="register at the runtime keys of your own backend",
    )


def _taken(view: View, name: OperatorName, filled: tuple[str, ...]) -> tuple[str, ...]:
    """The slots that held a kernel before the user's files: their own, an alias key's, or a fallback."""
    before = view.state.base
    if before is None or name not in before:
        return ()
    table = before.table(name)
    return tuple(slot for slot in filled if table[slot].kernel is not None)


CHECK = Check.of(find, __doc__, "DC501", Severity.WARNING, needs=(Need.FILES,))
