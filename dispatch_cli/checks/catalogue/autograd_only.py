"""No kernel that computes the result is registered at autograd keys only.

Inference mode excludes the autograd keys, and so does code below autograd, such as the kernel of a custom operator
(`torch.library.custom_op`). An operator whose only kernel is at Autograd then has no kernel: a call raises "Could not
run". If there is another kernel below, a decomposition at Autograd is silently skipped, and the other kernel runs
(pytorch/pytorch#117555). A decomposition belongs at CompositeImplicitAutograd, which fills the backend slots as well as
the autograd slots. A kernel belongs at Autograd if it records a derivative and redispatches to the kernel below.

A kernel at the autograd key of one backend, for an operator that decomposes, is skipped in the same way: with nothing
registered at the backend itself, the composite kernel runs instead. `torch.einsum` on XLA is an example, inside a
custom operator (pytorch/xla#8713).

Reported are

- operators without any kernel below autograd. In PyTorch 2.4, `_c10d_functional_autograd::all_to_all_single` is one.
  Operators with a kernel at Tracer are not reported: torchgen generated both kernels, and its autograd kernels always
  redispatch, even to a backend that this build does not have;
- kernels at autograd keys that decompose, if your own files register them and there is another kernel below. A kernel
  counts as a decomposition if it is declared as one (`redispatches: other-operators`) or, without a declaration, if its
  name says so;
- kernels of your own files at the autograd key of one backend, such as AutogradXLA, if nothing is registered for the
  backend and a composite kernel fills its slot. Kernels declared to redispatch (`redispatches: below-autograd`) are not
  reported. Without a declaration they are infos: most of those above CompositeExplicitAutograd add the derivative that
  this kernel lacks, and redispatch to it, and a kernel at CompositeImplicitAutograd computes the same result. If
  another key of the backend has a kernel, such as SparseCPU, only autograd kernels declared to compute the result are
  reported.

Bad, because nothing is registered at CPU:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {Autograd: op_kernel}
```

Bad, because inference mode runs op_lowering:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_lowering, Autograd: op_decomposition}
```

Bad, because inference mode runs op_math on XLA:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, AutogradXLA: op_xla}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_decomposition}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_kernel, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, AutogradCPU: {kernel: op_autograd, redispatches: below-autograd}}
```

Fix: register a decomposition at CompositeImplicitAutograd; for an autograd kernel, add the backend kernel that it
redispatches to. Register a kernel that computes the result at the backend as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.catalogue.no_autograd_kernel import calls_others
from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import kernel_words, keys_text
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.changes.change import Action, Edit, Function
from dispatch_cli.model.kernel import Kernel, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, META, autograd_key_of, backend_keys

TRACER = "Tracer"
TIP = f"register a decomposition at {CATCH_ALL}; for an autograd kernel, add the backend kernel that it redispatches to"


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator with kernels at autograd keys and none of its own below."""
    universe = view.universe
    ends = [key for key in backend_keys(universe) if universe.runtime_parts[key][1] != META]
    for pattern in view.patterns:
        above = view.autograd_kernels(pattern)
        if above and all(pattern.decision(key).source is None for key in ends):
            if not pattern.has(TRACER):
                defined = (name for name in pattern.operators if view.schema_text(name) is not None)
                yield from (_alone(view, name, above) for name in defined if view.concerns(name, above))
        elif above and view.has_files:
            yield from (finding for name in pattern.operators for finding in _skipped(view, pattern, name, above))


def _alone(view: View, name: OperatorName, above: list[str]) -> Finding:
    kernels = "a kernel" if len(above) == 1 else "kernels"
    none = "no backend kernel except at Meta" if view.pattern(name).has(META) else "no backend kernel"
    return CHECK.finding(
        f"{name} has {kernels} at {keys_text(above)}, but {none}: inference mode excludes the autograd keys, so a "
        "call finds no kernel",
        name,
        above[0],
        at=view.registration(name, above[0]),
        tip=TIP,
        slots=[(name, key) for key in backend_keys(view.universe) if key != META],
    )


def _skipped(view: View, pattern: Pattern, name: OperatorName, above: list[str]) -> Iterator[Finding]:
    """Decompositions above another kernel."""
    active = view.active(name)
    for key in above:
        kernel = active[key].kernel
        if not view.is_written(active[key]):
            continue
        others = [other for other in _below(view, pattern, key) if not _may_be_same(active[other].kernel, kernel)]
        if others and not _decomposes(kernel):
            yield from _of_one_backend(view, pattern, name, active[key])
        elif others:
            yield CHECK.finding(
                f"{name}: inference mode skips {kernel_words(kernel)} at {key} and runs "
                f"{kernel_words(active[others[0]].kernel)} at {keys_text(others)}",
                name,
                key,
                at=view.registration(name, key),
                tip=f"register a decomposition at {CATCH_ALL}, which fills the backend slots too",
            )


def _of_one_backend(view: View, pattern: Pattern, name: OperatorName, above: Registration) -> Iterator[Finding]:
    """A kernel at the autograd key of one backend that has no kernel itself, over a composite one."""
    parts = view.universe.runtime_parts
    backend = parts.get(above.key, (above.key, None))[1]
    goes = above.kernel.redispatches
    if backend is None or backend == META or (goes is not None and goes.kind is not RedispatchKind.NO):
        return
    decision = pattern.decision(backend)
    if (
        decision.rule not in (Rule.MATH, Rule.DEFAULT)
        or decision.source is None
        or decision.source in pattern.fallthrough
    ):
        return
    ends = (key for key in backend_keys(view.universe) if parts[key][1] == backend)
    if goes is None and any(pattern.rule(key) is Rule.KERNEL for key in ends):
        return  # it goes on to these, as to a sparse one
    below = view.active(name)[decision.source]
    same = Edit(Action.REGISTER, name, backend, Function.SAME, above.key, above.kernel.debug)
    yield CHECK.finding(
        f"{name}: inference mode and custom operators skip {kernel_words(above.kernel)} at {above.key} and run "
        f"{kernel_words(below.kernel)} at {below.key}, because nothing is registered at {backend}",
        name,
        above.key,
        at=above,
        related=[(f"the kernel at {below.key}", below.kernel.span)],
        tip=f"if the skipped kernel computes the result, register it at {backend} too; if it redispatches to the one "
        "below, declare redispatches: below-autograd",
        severity=Severity.INFO if goes is None else None,
        fix=(same,) if goes is not None and backend in view.universe.parseable else (),
    )


def _may_be_same(first: Kernel, second: Kernel) -> bool:
    """True if two kernels can be one function: by name, or else by what a dump shows, which many share."""
    if first.function is not None or second.function is not None:
        return first.function == second.function
    return (first.wraps, first.debug) == (second.wraps, second.debug)


def _decomposes(kernel: Kernel) -> bool:
    """True if a kernel decomposes: as it is declared, or as its name says."""
    return "decomp" in kernel.debug.lower() if kernel.redispatches is None else calls_others(kernel)


def _below(view: View, pattern: Pattern, key: str) -> list[str]:
    """The keys whose kernels run in the backend slots below the autograd slots that the kernel at *key* fills."""
    sources: dict[str, None] = {}
    for backend in view.universe.backends:
        above = autograd_key_of(view.universe, backend)
        source = pattern.decision(backend).source
        if above is None or source is None or source in pattern.fallthrough:
            continue
        if pattern.decision(above).source == key:
            sources[source] = None
    return list(sources)


CHECK = Check.of(find, __doc__, "DC205", Severity.WARNING, lacks=MissingPart.KERNEL)
