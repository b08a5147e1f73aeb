"""A library block is for a namespace in which operators are defined.

A `TORCH_LIBRARY_IMPL` block registers kernels for operators that are defined elsewhere, and PyTorch accepts any name: a
misspelt one is another namespace, whose kernels are never called. The same holds for a fragment that defines nothing. A
namespace whose operators are all defined in fragments is fine: `torch.library.custom_op` makes such namespaces, and
none needs a `TORCH_LIBRARY` block.

In sources, a namespace whose name is not one edit from a known one is taken for another library's, such as
torchvision's, and its blocks with kernels are infos. A block without any, whose operators a function defines when it is
called, is not reported, and neither is a namespace in which a definition is undecided that may be the one.

`dangling-implementation` also reports each operator of such a block that has kernels.

Bad, because mylib is spelt in two ways:

```yaml
dispatch: 1
libraries:
  - {kind: DEF, namespace: mylib, define: ["add(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: my_lib, dispatch_key: CompositeImplicitAutograd, impl: {add: add_kernel}}
```

Good:

```yaml
dispatch: 1
libraries:
  - {kind: DEF, namespace: mylib, define: ["add(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: mylib, dispatch_key: CompositeImplicitAutograd, impl: {add: add_kernel}}
```

Fix: correct the name, or load the declarations that define operators in the namespace as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.declarations import Block, LibraryKind, OpenBlock
from dispatch_cli.model.text.suggest import FewSuggestions

FALLBACKS = "_"
"""The namespace of blocks that hold backend fallbacks."""
CUTOFF = 0.8
"""Least similarity of two names for one to be taken for a misspelling of the other."""
MAX_COMPARED = 1_000
"""Known namespaces with which a misspelt one is compared."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every namespace in which a file has blocks and no operator is defined."""
    if not view.is_whole:
        return
    blocks = dict.fromkeys(step.block for step in view.written_steps if isinstance(step, OpenBlock))
    written = [block for block in blocks if not block.implicit]
    if not written:
        return
    known = {block.namespace for block in written if block.kind is LibraryKind.DEF} | view.pytorch_namespaces
    if {block.namespace for block in written} <= known | {FALLBACKS}:
        return  # without a look at all operators
    known |= {name.namespace or "" for name in view.names if view.schema_text(name) is not None}
    unknown: dict[str, list[Block]] = {}
    for block in written:
        if block.namespace != FALLBACKS and block.namespace not in known and not _may_be_defined(view, block):
            unknown.setdefault(block.namespace, []).append(block)
    few, names = FewSuggestions(compared=MAX_COMPARED, cutoff=CUTOFF), sorted(known)
    for namespace, own_blocks in unknown.items():
        yield _finding(view, namespace, own_blocks, few.suggest(namespace, names))


def _may_be_defined(view: View, block: Block) -> bool:
    """True if something that is not decided may define an operator there, or a function may fill the block."""
    if view.undecided.may_define(block.namespace):
        return True
    return block.extracted and block.namespace not in view.namespaces.with_kernels


def _finding(view: View, namespace: str, blocks: Sequence[Block], hint: str | None) -> Finding:
    first, *others = blocks
    return CHECK.finding(
        f"no operator is defined in {namespace}, the namespace of this {first.kind.value} block"
        f"{f'; {hint}' if hint else ''}",
        span=first.span,
        related=[("another block of this namespace", block.span) for block in others],
        tip="correct the name, or load the declarations that define operators in it as well",
        subject=namespace,
        severity=Severity.INFO if view.namespaces.library(namespace) is not None else None,
    )


CHECK = Check.of(find, __doc__, "DC503", Severity.WARNING, needs=(Need.FILES,))
