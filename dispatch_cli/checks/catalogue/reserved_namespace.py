"""Operators are not defined in namespaces of PyTorch.

A namespace belongs to the library that has its `TORCH_LIBRARY` block. An operator added to one of PyTorch's namespaces
collides with an operator of that name in a later PyTorch, and whatever asks whether an operator is PyTorch's own takes
it for one (torch.compile, FakeTensor, export). PyTorch refuses a second DEF block of a namespace: "Only a single
TORCH_LIBRARY can be used". ``prim`` is reserved for TorchScript: `torch.library.Library` refuses to define there
(`_reserved_namespaces` in `torch/library.py`).

PyTorch's namespaces are known only over a state of PyTorch; ``prim`` is always known.

Bad, because aten is PyTorch's:

```yaml
dispatch: 1
extends: [torch-2.15]
operators:
  - func: aten::my_operator(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: my_operator}
```

Good:

```yaml
dispatch: 1
extends: [torch-2.15]
operators:
  - func: demo::my_operator(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: my_operator}
```

Fix: define the operator in a namespace of your own. Kernels for PyTorch's operators need no definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.declarations import Block, Define, LibraryKind, OpenBlock

TORCH_SCRIPT = frozenset({"prim"})
"""The namespaces that PyTorch reserves for the TorchScript interpreter."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every definition, and every DEF block, of a file in a namespace that is PyTorch's."""
    asked = frozenset(name for name in view.operators if _owner(view, name.namespace) is not None)
    if not asked and not view.is_whole:
        return  # without a look at all steps
    for step in view.written_steps:
        if isinstance(step, OpenBlock) and view.is_whole and _is_def(step.block):
            yield from _of_block(view, step.block)
        elif isinstance(step, Define) and step.schema.name in asked and not _is_def(step.block):
            yield from _of_definition(view, step)


def _is_def(block: Block) -> bool:
    """True if a TORCH_LIBRARY block is written in a file; what it defines is not said one by one."""
    return block.kind is LibraryKind.DEF and not block.implicit


def _of_block(view: View, block: Block) -> Iterator[Finding]:
    whose = _owner(view, block.namespace)
    if whose is not None:
        yield CHECK.finding(
            f"this TORCH_LIBRARY block is for {block.namespace}, a namespace of {whose}: {_refusal(block.namespace)}",
            span=block.span,
            tip="define operators in a namespace of your own; register kernels for other operators in a "
            "TORCH_LIBRARY_IMPL block",
            subject=block.namespace,
        )


def _of_definition(view: View, step: Define) -> Iterator[Finding]:
    name = step.schema.name
    whose = _owner(view, name.namespace)
    if whose is not None:
        yield CHECK.finding(
            f"{name} is defined in {name.namespace}, a namespace of {whose}",
            name,
            span=step.span,
            mark=str(name) if step.block.implicit else None,
            mark_follows=True,
            tip="define it in a namespace of your own",
            severity=Severity.INFO if step.block.extracted else None,  # a FRAGMENT of another library is no slip
        )


def _refusal(namespace: str) -> str:
    """Sentence about who refuses a DEF block of a namespace of PyTorch's."""
    if namespace in TORCH_SCRIPT:
        return "torch.library.Library refuses to define operators in it"
    return "PyTorch refuses a second one"


def _owner(view: View, namespace: str | None) -> str | None:
    if namespace in TORCH_SCRIPT:
        return "the TorchScript interpreter"
    return "PyTorch" if namespace in view.pytorch_namespaces else None


CHECK = Check.of(find, __doc__, "DC502", Severity.WARNING, needs=(Need.FILES,))
