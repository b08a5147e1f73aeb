"""Kernels that get symbolic sizes take SymInt.

PyTorch accepts a C++ kernel that takes int where the schema says SymInt. Called with a symbolic size, the kernel gets
the present value of the size, and PyTorch adds a guard on it (`SymInt::guard_int`): `torch.compile` and `torch.export`
then specialise on that size, or fail if the size must stay dynamic. In vllm-project/vllm#9234 the same happens with int
in the schema. Kernels at the backend keys of real devices never get symbolic sizes. Kernels at Meta, at autograd keys
and at other keys above the backends do, and so do composite kernels that fill these slots. Nobody traces with sparse or
quantized Meta tensors.

Bad, because tracing calls the kernel at Meta, and specialises on ``size``:

```yaml
dispatch: 1
operators:
  - func: demo::grow(Tensor x, SymInt size) -> Tensor
    dispatch:
      CPU: {kernel: grow_cpu, signature: "(Tensor _0, int _1) -> Tensor _0", unboxed: true}
      Meta: {kernel: grow_meta, signature: "(Tensor _0, int _1) -> Tensor _0", unboxed: true}
      Autograd: grow_autograd
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::grow(Tensor x, SymInt size) -> Tensor
    dispatch:
      CPU: {kernel: grow_cpu, signature: "(Tensor _0, int _1) -> Tensor _0", unboxed: true}
      Meta: {kernel: grow_meta, signature: "(Tensor _0, SymInt _1) -> Tensor _0", unboxed: true}
      Autograd: grow_autograd
```

Fix: take `c10::SymInt` (and `c10::SymIntArrayRef`) in the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.model.universe import META, backend_keys

SYM_INT = "SymInt"


def find(view: View) -> Iterator[Finding]:
    """A finding for every kernel by a file that takes int for SymInt at a slot where symbolic sizes come."""
    real = frozenset(backend_keys(view.universe)) - {META}
    for name in view.touched:
        if name in view.own and SYM_INT in (view.schema_text(name) or "").rpartition("->")[0]:
            yield from _of_operator(view, name, real)


def _of_operator(view: View, name: OperatorName, real: frozenset[str]) -> Iterator[Finding]:
    from dispatch_cli.model.schema.model import takes_symint

    schema, place, pattern = view.schema(name), view.defined_at(name), view.pattern(name)
    if schema is None:
        return
    sizes = [argument.name for argument in schema.arguments if SYM_INT in argument.real_type.text]
    for key in view.written_keys(name):
        registration = view.active(name)[key]
        kernel = registration.kernel
        if not sizes or kernel.signature is None or takes_symint(kernel.signature):
            continue
        filled = [slot for slot in view.universe.covered_by(key) if pattern.decision(slot).source == key]
        symbolic = [slot for slot in filled if slot not in real]
        if symbolic:
            yield CHECK.finding(
                f"{name}: the kernel {kernel.debug} at {key} takes int for {some_of(sizes)}, which the schema "
                f"declares as {SYM_INT}: tracing through {keys_text(symbolic)} specialises on the value",
                name,
                key,
                at=registration,
                details=(("arguments", ", ".join(sizes)), ("signature", str(kernel.signature).strip())),
                related=(("the schema", place),),
                tip="take c10::SymInt in the kernel",
            )


CHECK = Check.of(find, __doc__, "DC402", Severity.WARNING, needs=(Need.FILES,))
