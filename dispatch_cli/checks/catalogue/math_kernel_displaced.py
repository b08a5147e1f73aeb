"""A composite operator with a backend kernel has an autograd kernel for that backend.

An operator with a kernel at CompositeImplicitAutograd gets its derivative from the operators that this kernel calls. A
kernel at a backend key takes the backend's slot. PyTorch then keeps the composite kernel out of the backend's
autograd slot as well (*has_backend_kernel* in `aten/src/ATen/core/dispatch/OperatorEntry.cpp`), because there it would
run before the backend's kernel and never call it. Unless an autograd kernel is registered, the autograd slot then holds

- PyTorch's autograd fallback. It redispatches to the backend's kernel, and backward() warns that "an autograd kernel
  was not registered" (pytorch/xla#3247). The result has no derivative, unless the backend's kernel calls differentiable
  operators, which autograd follows: a kernel of `aten::true_divide` that calls `aten::div` is one. Declare such a
  kernel with `redispatches: other-operators`, and the finding is an info; `redispatches: false` says that the kernel
  computes the result itself;
- or nothing, as at AutogradPrivateUse1 up to PyTorch 2.4: every call with such a tensor raises "Could not run … with
  arguments from the 'AutogradPrivateUse1' backend", also without gradients (pytorch/pytorch#95207, #113161). These
  findings are errors.

An operator that returns no tensor needs no derivative, and neither does one whose results have none, such as the
comparison `aten::less`; the fallback is enough for it. Kernels at Meta compute nothing:
where only these displace the composite kernel, the finding is an info. So it is for an operator that writes to its
arguments: most are `out=` forms, which are not differentiated.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_decomposition, XLA: op_xla}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_decomposition, XPU: op_xpu, AutogradXPU: op_xpu_autograd}
```

Fix: remove the backend's kernel, and register kernels for the operators that the composite kernel calls; or register a
kernel at the autograd key too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.checks.catalogue.no_autograd_kernel import calls_others
from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import autograd_keys, keys_text, own_kernels
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import displaced
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, EXPLICIT, META

COMPUTES = frozenset({RedispatchKind.NO, RedispatchKind.RAISES})
"""Declared redispatches of kernels that call no operator that autograd could follow."""
RAISES = 'nothing: every call with such tensors raises "Could not run"'
FALLBACK = "only PyTorch's autograd fallback: "
NO_DERIVATIVE = f"{FALLBACK}results have no derivative"
UNLESS = f"{NO_DERIVATIVE}, unless KERNELS differentiable operators"
OF_OTHERS = f"{FALLBACK}autograd differentiates the operators that KERNELS, but backward() warns"


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator that lost its math kernel at an autograd key, and has nothing else there."""
    for pattern in view.patterns:
        if not pattern.has(CATCH_ALL) or pattern.has(EXPLICIT):
            continue
        affected = displaced(view.universe, pattern.decision)
        for name in pattern.operators if affected else ():
            missing = {key: decision for key, decision in affected.items() if decision.rule is Rule.MISSING}
            if view.schema_text(name) is None or not view.concerns(name, (*_culprits(view, affected), CATCH_ALL)):
                continue
            if missing:
                yield _finding(view, name, missing, RAISES, Severity.ERROR)
            elif view.returns_tensors(name):
                from dispatch_cli.engine.support.gradients import never_differentiated

                own = [view.own_fallbacks[key].kernel for key in affected if key in view.own_fallbacks]
                if not never_differentiated(name) and all(kernel.fallthrough for kernel in own):
                    yield _finding(view, name, affected, *_outcome(view, name, _culprits(view, affected)))


def _outcome(view: View, name: OperatorName, culprits: tuple[str, ...]) -> tuple[str, Severity | None]:
    """Outcome for the derivative under the autograd fallback, which leaves autograd on; and its severity."""
    active = view.active(name)
    kernels = [active[key].kernel for key in culprits]
    call = "the kernel calls" if len(kernels) == 1 else "the kernels call"
    if culprits == (META,) or "!" in (view.schema_text(name) or ""):
        return UNLESS.replace("KERNELS", call), Severity.INFO
    if all(map(calls_others, kernels)):
        return OF_OTHERS.replace("KERNELS", call), Severity.INFO
    if any(kernel.redispatches is not None and kernel.redispatches.kind in COMPUTES for kernel in kernels):
        return NO_DERIVATIVE, None
    composite = active[CATCH_ALL].kernel.debug
    if name in view.extracted and any(kernel.debug == composite for kernel in kernels):  # it is no decomposition
        return UNLESS.replace("KERNELS", call), Severity.INFO
    return UNLESS.replace("KERNELS", call), None


def _culprits(view: View, lost: Mapping[str, Decision]) -> tuple[str, ...]:
    blockers = 0
    for decision in lost.values():
        blockers |= decision.blockers
    return view.dispatcher.keys_in(blockers)


def _finding(
    view: View, name: OperatorName, lost: Mapping[str, Decision], outcome: str, severity: Severity | None
) -> Finding:
    culprits = _culprits(view, lost)
    keys = autograd_keys(view, name, tuple(lost))
    noun, verb = ("kernel", "displaces") if len(culprits) == 1 else ("kernels", "displace")
    if not view.own_fallbacks.keys().isdisjoint(lost):
        outcome = outcome.replace(FALLBACK, "only a fallthrough: ").replace(", but backward() warns", "")
    return CHECK.finding(
        f"{name}: the {noun} at {keys_text(culprits)} {verb} the one at {CATCH_ALL} from {keys_text(tuple(lost))}, "
        f"leaving {outcome}",
        name,
        next(iter(lost)),
        at=view.registration(name, culprits[0]),
        related=((f"the kernel at {CATCH_ALL} is registered here", view.place(name, CATCH_ALL)),),
        details=(("culprits", ", ".join(culprits)), ("autograd keys", ", ".join(lost))),
        tip=f"register {'kernels' if len(keys) > 1 else 'a kernel'} at {keys_text(keys)}; or instead register the "
        f"operators that the {CATCH_ALL} kernel calls",
        fix=own_kernels(view, name, keys),
        severity=severity,
        slots=[(name, key) for key in lost],
    )


CHECK = Check.of(find, __doc__, "DC202", Severity.WARNING, lacks=MissingPart.KERNEL)
