"""A Python kernel writes to no argument that the schema does not declare.

`mutates_args` of `torch.library.custom_op` and the schema say what an operator writes to: "it MUST be accurate,
otherwise, the behavior is undefined". Autograd, functionalization and the compiler believe it: a call whose result is
not used is removed, and calls are moved past each other, so that compiled code reads what was not written, or misses a
write (pytorch/pytorch#129372).

A write is read in the source of a kernel: `x.add_(1)`, `x[0] = 1`, `x += 1`, `torch.add(x, 1, out=x)`,
`torch._foreach_add_([x], 1)`, or the same on a view such as `x.view(-1)`. Nothing is said of a parameter that the
function binds anew, as in `x = x.clone()`, nor of writes by functions that it calls; nor of `aten::_copy_from` and
`aten::_copy_from_and_resize`, whose kernels write to their second argument although PyTorch's schemas do not say so. A
name in `mutates_args` that no parameter has is refused by PyTorch, which `refused-registration` reports.

Bad:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::bump(Tensor x) -> Tensor"
    kernel:
      kernel: bump
      body: {parameters: [x], writes: [{argument: x, text: x.add_(1)}]}
    fake: bump_fake
```

Good:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::bump(Tensor x) -> Tensor"
    mutates_args: [x]
    kernel:
      kernel: bump
      body: {parameters: [x], writes: [{argument: x, text: x.add_(1)}]}
    fake: bump_fake
```

Fix: name the argument in `mutates_args`, or in the schema as ``Tensor(a!) x``; or write to a clone.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.python.functions import computes, undeclared_writes

_COPIES = frozenset({"aten::_copy_from", "aten::_copy_from_and_resize"})
"""Operators by which a backend copies (``aten/src/ATen/native/Copy.cpp``)."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every argument that a kernel whose source is known writes to, against its schema."""
    for name in (name for name in view.touched if name.name not in _COPIES):
        for key in filter(lambda key: computes(view.universe, key), view.own_keys(name)):
            kernel = view.active(name)[key].kernel
            schema = view.schema(name) if kernel.body is not None else None
            written = {use.argument: use for use in undeclared_writes(kernel, schema)} if schema is not None else {}
            for argument, use in written.items():
                yield CHECK.finding(
                    f"{name}: {kernel.shown_function} writes to {argument} ({use.text}), which the schema does not say",
                    name,
                    key,
                    span=use.at,
                    related=(("the kernel", kernel.span), ("the schema", view.defined_at(name))),
                    details=(("schema", str(schema)),),
                    tip=f"declare that it writes to {argument}, or write to a clone",
                    subject=argument,
                )


CHECK = Check.of(find, __doc__, "DC312", Severity.WARNING, needs=(Need.FILES,))
