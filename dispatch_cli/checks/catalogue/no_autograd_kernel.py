"""An operator with a backend kernel has a kernel or a fallthrough for autograd.

If nothing is registered for autograd, PyTorch's fallback fills the autograd keys. It redispatches to the backend's
kernel and marks the result; backward() through it warns "an autograd kernel was not registered to the Autograd key(s)
but we are trying to backprop through it. This may lead to silently incorrect behavior", and gives no gradient
(`basicAutogradNotImplementedFallback` in `torch/csrc/autograd/autograd_not_implemented_fallback.cpp`;
pytorch/pytorch#105078). If the kernel calls differentiable operators, autograd follows these and only the warning
remains; declare such a kernel with `redispatches: other-operators`, and the finding is an info. For an operator that
only writes to its arguments there is not even a warning; these findings are infos, because most such operators are
never differentiated. A fallthrough at Autograd says that the operator has no derivative, on purpose. Where PyTorch has
no fallback, as at AutogradNestedTensor, a call raises "Could not run", and the finding is an error.

Not reported: operators without tensor arguments, and those that neither return a tensor nor write to one; kernels at
Meta, which compute nothing, and at the Quantized keys, whose tensors cannot require gradients; autograd keys whose
fallback falls through. Without PyTorch's own fallbacks (`fallbacks: none`) nothing is reported.

Operators of a PyTorch state are reported, as info, only if other operators of their namespace have an autograd kernel:
a library without any is made for inference. In PyTorch 2.15 these are few, such as `aten::avg_pool1d.out`: with an
argument that requires a gradient every other `out=` operator raises, and this one does not.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
  - func: demo::rank(Tensor x) -> Tensor
    dispatch: {CPU: rank_cpu, Autograd: fallthrough}
```

Fix: register a kernel at Autograd, or a fallthrough if there is no derivative. In Python, use
`torch.library.register_autograd`. For an operator of another library, register at the autograd key of your backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.fixes import autograd_keys, own_kernels
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.text import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.kernel import Kernel, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD, CATCH_ALL, META

DEFAULTS = tuple(one.alias for one in PRECEDENCE if one.rule is Rule.DEFAULT)
"""The alias keys whose kernel is a backend kernel for any backend."""
QUANTIZED = "Quantized"


class _Lack(NamedTuple):
    """What a pattern lacks.

    keys: where the backend kernels are. above: their autograd keys. missing: nothing is there, and a call raises.
    """

    keys: tuple[str, ...]
    above: tuple[str, ...]
    missing: bool


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator with a backend kernel under an autograd key without a registration."""
    if not view.state.declarations.core_fallbacks:
        return
    differentiable = _namespaces_with_autograd(view.first)
    for pattern in view.patterns:
        lack = None if pattern.has(CATCH_ALL) else _lack(view, pattern)
        for name in pattern.operators if lack is not None else ():
            text = view.schema_text(name)
            if text is None or not view.takes_tensors(name) or not ("!" in text or view.returns_tensors(name)):
                continue
            assert lack is not None
            active = view.active(name)
            follows = all(calls_others(active[key].kernel) for key in lack.keys)
            written = any(view.is_written(active[key]) for key in lack.keys)
            if written or (name.namespace in differentiable and view.concerns(name, lack.keys)):
                yield _finding(view, name, lack, written, follows)


def _lack(view: View, pattern: Pattern) -> _Lack | None:
    """The backend kernels under autograd keys without an answer."""
    fallback: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    for key, backends in _served(view, pattern).items():
        for backend in backends:
            above = autograd_key_of(view.universe, backend)
            decision = pattern.decision(above) if above is not None else None
            if decision is None or above is None:
                continue
            if decision.rule is Rule.MISSING and key == backend:
                missing.setdefault(key, []).append(above)
            elif decision.rule is Rule.FALLBACK and not view.dispatcher.fallbacks[above].kernel.fallthrough:
                fallback.setdefault(key, []).append(above)
    found = missing or fallback
    above_all = dict.fromkeys(one for keys in found.values() for one in keys)
    return _Lack(tuple(found), tuple(above_all), bool(missing)) if found else None


def _served(view: View, pattern: Pattern) -> Mapping[str, tuple[str, ...]]:
    """The keys with a backend kernel, and the backend keys whose slot each fills."""
    universe = view.universe
    served: dict[str, tuple[str, ...]] = {}
    for key in pattern.keys:
        if key in DEFAULTS:
            served[key] = tuple(one for one in universe.backends if one != META and pattern.decision(one).source == key)
        elif key != META and key in universe.slot and universe.runtime_parts[key][0] != QUANTIZED:
            served[key] = (key,)
    return served


def _namespaces_with_autograd(view: View) -> frozenset[str | None]:
    autograd = {AUTOGRAD, *view.universe.covered_by(AUTOGRAD)}
    return frozenset(
        name.namespace
        for pattern in view.patterns
        if any(key in autograd and key not in pattern.fallthrough for key in pattern.keys)
        for name in pattern.operators
    )


def calls_others(kernel: Kernel) -> bool:
    """Whether a kernel is known to call other operators, whose derivatives count where autograd is on."""
    return kernel.redispatches is not None and kernel.redispatches.kind is RedispatchKind.OTHER_OPERATORS


def _finding(view: View, name: OperatorName, lack: _Lack, written: bool, follows: bool) -> Finding:
    """follows: autograd follows what the kernels call."""
    where = "a kernel" if len(lack.keys) == 1 else "kernels"
    holds, is_empty = ("holds", "is empty") if len(lack.above) == 1 else ("hold", "are empty")
    outcome, severity = f"{holds} PyTorch's fallback, which has no derivative", Severity.WARNING
    if lack.missing:
        outcome, severity = f'{is_empty}, so a call raises "Could not run"', Severity.ERROR
    elif "!" in (view.schema_text(name) or ""):
        outcome, severity = f"{holds} PyTorch's fallback, which ignores arguments that are written to", Severity.INFO
    elif follows:
        outcome = (
            f"{holds} PyTorch's fallback: autograd follows the operators that the kernel calls, but backward() warns"
        )
        severity = Severity.INFO
    keys = autograd_keys(view, name, lack.above)
    return CHECK.finding(
        f"{name} has {where} at {keys_text(lack.keys)} but none for autograd: {keys_text(lack.above)} {outcome}",
        name,
        lack.above[0],
        at=view.active(name).get(lack.keys[0]),
        details=(("backend kernels", ", ".join(lack.keys)), ("autograd keys", ", ".join(lack.above))),
        tip=f"register a kernel at {keys_text(keys)}, or a fallthrough there if the operator has no derivative",
        fix=own_kernels(view, name, keys),
        severity=severity if written else Severity.INFO,
        slots=[(name, key) for key in lack.above],
    )


CHECK = Check.of(find, __doc__, "DC203", Severity.WARNING, lacks=MissingPart.KERNEL)
