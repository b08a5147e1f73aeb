"""A block's namespace is one that somebody defines.

A `TORCH_LIBRARY_IMPL` block registers kernels for a namespace whose `TORCH_LIBRARY` block is elsewhere, and PyTorch
takes any name: a misspelt one is a namespace of its own, whose kernels nobody calls. The same goes for a fragment,
which defines its operators next to the ones it was meant to join. A namespace that only fragments define is fine, and
so is any other new name; reported are blocks with nothing to belong to, and fragments whose namespace is almost the
name of another.

Kernels for operators that do not exist are reported one by one, by `dangling-implementation`.

Bad, because mylib is spelt in two ways:

```yaml
dispatch: 1
libraries:
  - {kind: DEF, namespace: mylib, define: ["add(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: mylib, dispatch_key: CompositeImplicitAutograd, impl: {add: add_kernel}}
  - {kind: FRAGMENT, namespace: my_lib, define: ["mul(Tensor x) -> Tensor"]}
```

Good:

```yaml
dispatch: 1
libraries:
  - {kind: DEF, namespace: mylib, define: ["add(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: mylib, dispatch_key: CompositeImplicitAutograd, impl: {add: add_kernel}}
  - {kind: FRAGMENT, namespace: mylib, define: ["mul(Tensor x) -> Tensor"]}
```

Fix: correct the name, or load the declarations that define the namespace before.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from difflib import get_close_matches

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.declarations import Block, Implement, LibraryKind, OpenBlock

FALLBACKS = "_"
"""The namespace of blocks that hold backend fallbacks."""
CUTOFF = 0.8
"""How alike two names are, at least, for one to be taken for a misspelling of the other."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every block of a file that belongs to no namespace, or almost to one."""
    if not view.is_whole:
        return
    blocks: dict[Block, bool] = {}
    for step in view.written_steps:
        if isinstance(step, OpenBlock):
            blocks.setdefault(step.block, False)
        elif isinstance(step, Implement):
            blocks[step.block] = True
    written = [(block, has_kernels) for block, has_kernels in blocks.items() if not block.implicit]
    if not written:
        return
    defined = {name.namespace or "" for name in view.names if view.schema_text(name) is not None}
    opened = {block.namespace for block, _ in written if block.kind is LibraryKind.DEF} | view.pytorch_namespaces
    for block, has_kernels in written:
        if block.namespace == FALLBACKS or block.kind is LibraryKind.DEF or block.namespace in opened:
            continue
        if block.namespace not in defined:
            if not has_kernels:
                yield _finding(block, "where no operator is defined", _similar(block.namespace, opened | defined))
        elif block.kind is LibraryKind.FRAGMENT:
            similar = _similar(block.namespace, opened)
            if similar is not None:
                yield _finding(block, f"which has no TORCH_LIBRARY block, unlike {similar}", similar)


def _similar(namespace: str, others: AbstractSet[str]) -> str | None:
    found = get_close_matches(namespace, sorted(others), n=1, cutoff=CUTOFF)
    return found[0] if found else None


def _finding(block: Block, why: str, similar: str | None) -> Finding:
    hint = f"; did you mean {similar}?" if similar is not None else ""
    return CHECK.finding(
        f"a {block.kind.value} block of {block.namespace}, {why}{hint}",
        span=block.span,
        tip="correct the name, or load the declarations that define the namespace before",
        subject=block.namespace,
    )


CHECK = Check(
    id="unknown-namespace",
    code="DC503",
    title="the namespace of a block is one that somebody defines",
    severity=Severity.WARNING,
    documentation=__doc__,
    find=find,
    needs=(Need.FILES,),
)
