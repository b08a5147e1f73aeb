"""Python functions take what PyTorch passes to them.

`torch.library` takes any function, and fails when it calls it (pytorch/pytorch#181851, #137219): at the first call of
a kernel, in `torch.compile` and `torch.export` for a fake implementation, in `torch.vmap` for a batching rule, in
training for `register_autograd`. Arguments of the schema are passed by position, in their order, and keyword-only ones
by name; a batching rule gets `info` and `in_dims` before them. Those that have their default value are left out: a
keyword-only one, or any at the end. `setup_context` gets `ctx`, `inputs` and `output` by these names, and
`keyword_only_inputs` where the operator has keyword-only arguments. `backward` gets `ctx` and a gradient for each
result, and returns a gradient, or None, for each positional argument. Kernels and fake implementations return a value
for each result of the schema.

It is known of functions whose source is read, and that take no `*args` there. A function that fails at every call, or
at calls in which the arguments with defaults have these, is a warning; one that fails only where another value is given
is an info.

Bad, because the fake implementation does not take ``n``:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::grow(Tensor x, int n) -> Tensor"
    kernel: {kernel: grow, body: {parameters: [x, n]}}
    fake: {kernel: grow_fake, body: {parameters: [x]}}
```

Good:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::grow(Tensor x, int n) -> Tensor"
    kernel: {kernel: grow, body: {parameters: [x, n]}}
    fake: {kernel: grow_fake, body: {parameters: [x, n]}}
```

Bad, because ``backward`` gives one gradient where the operator has two positional arguments:

```yaml
dispatch: 1
operators:
  - custom_op: "demo::scale(Tensor x, float f) -> Tensor"
    kernel: scale
    fake: scale_fake
    backward: {kernel: scale_backward, body: {parameters: [ctx, grad], values: 1..1}}
```

Fix: give the function the parameters of the schema, return as many values as it has results, and from `backward` one
for each positional argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.python.functions import mismatches

TIP = "take the arguments of the schema; PyTorch takes the function as it is, and fails when it calls it"
OF_DEFAULTS = "give it the parameters of the schema, with their defaults"
OF_RESULTS = "return a value for each result of the schema; in a backward, a gradient, or None, for each argument"


def find(view: View) -> Iterator[Finding]:
    """A finding for every function that fails when PyTorch calls it."""
    for name in view.touched:
        for key in view.own_keys(name):
            registration = view.active(name)[key]
            kernel = registration.kernel
            if kernel.body is None and kernel.setup_body is None:
                continue
            schema = view.schema(name)
            for mismatch in mismatches(kernel, schema) if schema is not None else ():
                yield CHECK.finding(
                    f"{name}: {mismatch.function} {mismatch.why}",
                    name,
                    key,
                    at=registration,
                    related=(("the schema", view.defined_at(name)),),
                    details=(("schema", str(schema)),),
                    tip=OF_RESULTS if mismatch.of_results else OF_DEFAULTS if mismatch.of_defaults else TIP,
                    subject=mismatch.function,
                    severity=None if mismatch.always or mismatch.by_default else Severity.INFO,
                )


CHECK = Check.of(find, __doc__, "DC109", Severity.WARNING, needs=(Need.FILES,))
