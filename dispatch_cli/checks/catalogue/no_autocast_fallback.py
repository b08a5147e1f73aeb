"""A backend's operators can be called under autocast.

Under `torch.autocast`, calls include the autocast key of the device, which is above the autograd keys. For the devices
whose autocast PyTorch implements, such as AutocastCPU and AutocastCUDA, it has a fallthrough fallback at that key. At
AutocastPrivateUse1, AutocastXLA, AutocastHPU and AutocastIPU it has none: the backends must register their own
(`aten/src/ATen/autocast_mode.cpp`). If a backend does not, each of its operators without a kernel at that key raises
"Could not run 'aten::conv2d' with arguments from the 'AutocastPrivateUse1' backend" under autocast
(artyom-beilis/pytorch_dlprim#93).

Reported once for each backend: as a warning if your own files register kernels at its autocast key, which shows that it
is used under autocast; otherwise as info, because `torch.autocast` itself raises for a backend whose module has no
`get_amp_supported_dtype`, or because another library may implement the backend and register the fallback.

Bad, because demo::op fails under autocast:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {PrivateUse1: op_npu, AutogradPrivateUse1: op_autograd}
```

Bad, because all other operators fail under autocast:

```yaml
dispatch: 1
operators:
  - func: demo::matmul(Tensor x) -> Tensor
    dispatch: {PrivateUse1: matmul_npu, AutogradPrivateUse1: matmul_autograd, AutocastPrivateUse1: matmul_in_half}
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {PrivateUse1: op_npu, AutogradPrivateUse1: op_autograd}
```

Good:

```yaml
dispatch: 1
fallbacks: {AutocastPrivateUse1: fallthrough}
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {PrivateUse1: op_npu, AutogradPrivateUse1: op_autograd}
```

Fix: register a fallthrough as the fallback at that key, `TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
m.fallback(torch::CppFunction::makeFallthrough()); }`, and kernels for the operators that should run in another dtype.
If another library does so, name its declarations in `extends`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.changes.change import fallthrough_fallback
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import autocast_key_of

MAX_NAMED = 3
_Kernels = list[tuple[OperatorName, Registration]]


def find(view: View) -> Iterator[Finding]:
    """A finding for every backend of the user's with an empty slot for autocast."""
    if not view.is_whole or not view.state.declarations.core_fallbacks:
        return
    for backend in view.universe.backends:
        key = autocast_key_of(view.universe, backend)
        if key is not None and key not in view.dispatcher.fallbacks:
            yield from _of_backend(view, backend, key)


def _kernels(view: View, bits: Sequence[str], key: str) -> tuple[_Kernels, _Kernels]:
    """Operators that fail under autocast, each with a kernel at one of *bits*; and those with a kernel at *key*."""
    failing: _Kernels = []
    working: _Kernels = []
    for pattern in view.patterns:
        keys = [bit for bit in bits if pattern.has(bit) and bit not in pattern.fallthrough]
        if not keys and not pattern.has(key):
            continue
        for name in pattern.operators:
            active = view.active(name)
            own = next((active[bit] for bit in keys if view.is_own(active[bit])), None)
            if key in active and view.is_own(active[key]):
                working.append((name, active[key]))
            elif own is not None and pattern.rule(key) is Rule.MISSING and view.takes_tensors(name):
                failing.append((name, own))
    return failing, working


def _of_backend(view: View, backend: str, key: str) -> Iterator[Finding]:
    parts = view.universe.runtime_parts
    bits = [bit for bit in view.universe.runtime if parts[bit][1] == backend]
    fallback = next((view.own_fallbacks[bit] for bit in bits if bit in view.own_fallbacks), None)
    failing, working = _kernels(view, bits, key)
    if not failing and fallback is None:
        return
    device = next((device for device, other in view.universe.devices.items() if other == backend), backend)
    which = ", ".join(str(name) for name, _ in failing[:MAX_NAMED]) + (" …" if len(failing) > MAX_NAMED else "")
    verb = "raises" if len(failing) == 1 else "raise"
    if fallback is not None:
        which, verb = f"every operator without a kernel there{f' (such as {which})' if which else ''}", "raises"
    there = f"{len(working):,} operator{'s have kernels' if len(working) > 1 else ' has a kernel'} there"
    yield CHECK.finding(
        f'{key} has no fallback: under autocast, {which} {verb} "Could not run" for {device} tensors',
        key=key,
        at=fallback or failing[0][1],
        details=(("operators", f"{len(failing):,}"),) if failing else (),
        related=[(there, registration.kernel.span) for _, registration in working[:1]],
        tip=f"register a fallthrough as the fallback at {key}",
        fix=(fallthrough_fallback(key),),
        severity=None if working else Severity.INFO,
    )


CHECK = Check.of(find, __doc__, "DC307", Severity.WARNING, needs=(Need.FILES,))
