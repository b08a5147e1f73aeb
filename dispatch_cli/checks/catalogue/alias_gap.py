"""A backend has kernels for its sparse and nested tensors where other backends have some.

A default kernel does not serve every tensor of a backend: CompositeExplicitAutogradNonFunctional, which many PyTorch
operators have, does not cover the Sparse and NestedTensor keys. CPU and CUDA have kernels of their own there. A backend
that registers a kernel at its dense key and relies on the default kernel for the rest leaves these slots empty: "Could
not run 'aten::bmm' with arguments from the 'NestedTensorXPU' backend" (intel/torch-xpu-ops#2416, #4901).

Reported for operators with a kernel of your own files at a dense key, if the default kernel does not cover the slot,
another backend has a kernel in the corresponding slot, and the backend has such tensors: some other operator has a
kernel at that key.

Bad, because demo::op has a kernel at NestedTensorCPU, nothing at NestedTensorXPU, and the backend has nested tensors:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CPU, XPU: op_kernel
      NestedTensorCPU: op_nested
      CompositeExplicitAutogradNonFunctional: op_default
      Autograd: op_autograd
  - func: demo::other(Tensor x) -> Tensor
    dispatch: {NestedTensorXPU: other_nested, Autograd: other_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CPU, XPU: op_kernel
      NestedTensorCPU, NestedTensorXPU: op_nested
      CompositeExplicitAutogradNonFunctional: op_default
      Autograd: op_autograd
  - func: demo::other(Tensor x) -> Tensor
    dispatch: {NestedTensorXPU: other_nested, Autograd: other_autograd}
```

Fix: register kernels at these keys; often one kernel serves all backends.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, MissingPart, Need, Severity
from dispatch_cli.checks.finding_parts import keys_text, own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.names import OperatorName

COMPOSITE = tuple(step.alias for step in PRECEDENCE if step.rule in (Rule.DEFAULT, Rule.NESTED, Rule.MATH))
"""The alias keys whose kernels can serve a backend."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every backend of the user's and operator with an empty slot where other backends have a kernel."""
    for name in view.operators:
        if name not in view.own:
            continue
        pattern = view.pattern(name)
        aliases = [key for key in pattern.keys if key in COMPOSITE]
        for key in view.written_keys(name) if aliases else ():
            is_fake = view.active(name)[key].kernel.fake is not None  # fake tensors are dense
            if key in view.universe.backends and not is_fake:
                missing, peers = _gaps(view, pattern, key)
                if missing:
                    missing = [key for key in missing if key in view.first.keys_with_kernels]
                if missing:
                    yield _finding(view, name, key, missing, peers, aliases)


def _gaps(view: View, pattern: Pattern, backend: str) -> tuple[list[str], list[str]]:
    """The backend's keys at which nothing is, and the keys of other backends at which a kernel is in the same place."""
    universe = view.universe
    missing, peers = [], []
    for keys in universe.per_backend.values():
        key = keys[universe.backends.index(backend)]
        others = [other for other in pattern.keys if other in keys]
        if key not in view.autograd and others and pattern.rule(key) is Rule.MISSING:
            missing.append(key)
            peers += others
    return missing, peers


def _finding(
    view: View, name: OperatorName, key: str, missing: list[str], peers: list[str], aliases: list[str]
) -> Finding:
    verb, cover = ("is", "it") if len(missing) == 1 else ("are", "them")
    return CHECK.finding(
        f"{name} has a kernel at {key}, but {keys_text(missing)} {verb} empty: {' and '.join(aliases)} "
        f"{'does' if len(aliases) == 1 else 'do'} not cover {cover}; other backends have kernels at {keys_text(peers)}",
        name,
        missing[0],
        at=view.registration(name, key),
        details=(("empty", ", ".join(missing)), ("kernels at", ", ".join(peers))),
        tip=f"register {'a kernel' if len(missing) == 1 else 'kernels'} at {keys_text(missing)}",
        fix=own_kernels(view, name, missing),
        subject=key,
        slots=[(name, slot) for slot in missing],
    )


CHECK = Check.of(find, __doc__, "DC303", Severity.WARNING, needs=(Need.FILES,), lacks=MissingPart.KERNEL)
