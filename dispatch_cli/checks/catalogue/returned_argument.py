"""A Python kernel returns no argument, and no view of one.

A schema without aliases says that results share no storage with arguments. A kernel of `torch.library.custom_op` that
returns one all the same is refused when it is called: "The output of this custom operator (1) must not also be an
input to this custom operator and (2) may not alias any inputs" (`torch/_library/custom_ops.py`). PyTorch looks at the
results of `custom_op`, `triton_op` and `register_kernel` for such an operator. A kernel of `torch.library.impl` is not
looked at: where the result is written to later, eager calls change the argument, too, and compiled ones do not.

A kernel of `custom_op` that always returns an argument, or a view such as `x.view(-1)` or `x[0]`, is a warning. Where
it does so only on some paths, or where the result shares storage for some tensors only, as that of `x.contiguous()` or
`x.to(dtype)` does, it is an info: `torch.library.opcheck` with such tensors tells. So is a kernel of
`torch.library.impl`. Results that share storage with each other, as of `return y, y`, are refused in the same way.

Bad:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::flat(Tensor x) -> Tensor"
    kernel:
      kernel: flat
      body: {parameters: [x], returns: [{argument: x, text: x.view(-1)}]}
    fake: flat_fake
```

Good, because the kernel returns `x.view(-1).clone()`:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::flat(Tensor x) -> Tensor"
    kernel:
      kernel: flat
      body: {parameters: [x]}
    fake: flat_fake
```

A schema with an alias (`(Tensor(a) x) -> Tensor(a)`) allows a view, and refuses the argument itself, of a `custom_op`:
"View operation returned a tensor that is the same as the input base tensor".

Fix: return a clone; or, if the operator only writes to its argument, return nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.python.functions import checks_aliases, computes, returned_arguments
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.sources.function_body import ArgumentUse

_OPCHECK = "return a clone where it may be an argument; torch.library.opcheck tells for the tensors that it is given"


def find(view: View) -> Iterator[Finding]:
    """A finding for every result that is an argument, of kernels whose source is known."""
    for name in view.touched:
        for key in filter(lambda key: computes(view.universe, key), view.own_keys(name)):
            registration = view.active(name)[key]
            schema = view.schema(name) if registration.kernel.body is not None else None
            for use in returned_arguments(registration.kernel, schema) if schema is not None else ():
                yield _finding(name, registration, use)


def _finding(name: OperatorName, registration: Registration, use: ArgumentUse) -> Finding:
    kernel = registration.kernel
    custom = checks_aliases(kernel)
    what = f"may return {use.text}, which can share" if use.sometimes else f"returns {use.text}, which shares"
    refused = "PyTorch refuses it" if custom else "compiled calls take it for a new tensor"
    return CHECK.finding(
        f"{name}: {kernel.shown_function} {what} the storage of {use.argument}: {refused}",
        name,
        registration.key,
        span=use.at,
        related=(("the kernel", kernel.span),),
        tip=_OPCHECK if use.sometimes else f"return a clone{'' if custom else ', or declare the alias in the schema'}",
        subject=use.text,
        severity=None if custom and not use.sometimes else Severity.INFO,
    )


CHECK = Check.of(find, __doc__, "DC311", Severity.WARNING, needs=(Need.FILES,))
