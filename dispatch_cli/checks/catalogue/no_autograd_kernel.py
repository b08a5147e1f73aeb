"""An operator with a backend kernel has a kernel or a fallthrough for autograd.

If nothing is registered for autograd, PyTorch's fallback fills the autograd keys. It redispatches to the backend's
kernel, and backward() through it warns "an autograd kernel was not registered to the Autograd key(s) but we are trying
to backprop through it. This may lead to silently incorrect behavior"
(`basicAutogradNotImplementedFallback` in `torch/csrc/autograd/autograd_not_implemented_fallback.cpp`;
pytorch/pytorch#105078). Autograd stays on meanwhile: of a kernel that calls differentiable operators, an autograd
Function among them, the gradient is right, and the warning is all. A kernel that computes the result itself, such as a
CUDA kernel, gives no gradient: `x.grad` is None. Which of these a kernel is, sources do not say.

So a finding is an info, unless something says that the operator is differentiated: another key or overload of the
operator has an autograd kernel, or, in declarations, another operator of its namespace is named like its derivative
(`foo_backward`, `foo_bwd` or `foo_grad`; a `foo_forward` is called by the operator that has one). In sources such a
pair is mostly called by an autograd Function in Python, which nothing here reads, so it is still an info. With such a
sign it is a warning; but not if all its backend kernels are declared to call other operators (`redispatches:
other-operators`), and not for an operator that writes to its arguments, for which there is not even a warning from
PyTorch. A fallthrough at Autograd says that the operator has no derivative, on purpose. Where PyTorch has no fallback,
as at AutogradNestedTensor, a call raises "Could not run", and the finding is an error. It is an info at PrivateUse1 if
the sources have no kernel of PyTorch's own operators there: the library that is the backend may register a fallback.

Not reported: operators without tensor arguments, and those that neither return a tensor nor write to one; kernels at
Meta, which compute nothing, and at the Quantized keys, whose tensors cannot require gradients; autograd keys whose
fallback falls through. Without PyTorch's own fallbacks (`fallbacks: none`) nothing is reported.

Operators of a PyTorch state are reported, as info, only if other operators of their namespace have an autograd kernel:
a library without any is made for inference. In PyTorch 2.15 these are few, such as `aten::avg_pool1d.out`: with an
argument that requires a gradient every other `out=` operator raises, and this one does not.

Bad, because op_backward computes the derivative, and nothing calls it:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
  - func: demo::op_backward(Tensor grad, Tensor x) -> Tensor
    dispatch: {CPU: op_backward_cpu, Autograd: fallthrough}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
  - func: demo::op_backward(Tensor grad, Tensor x) -> Tensor
    dispatch: {CPU: op_backward_cpu, Autograd: fallthrough}
  - func: demo::rank(Tensor x) -> Tensor
    dispatch: {CPU: rank_cpu, Autograd: fallthrough}
```

Fix: register a kernel at Autograd, or a fallthrough if there is no derivative. In Python, use
`torch.library.register_autograd`. For an operator of another library, register at the autograd key of your backend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import autograd_keys, keys_text, own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.kernel import Kernel, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL, META, PRIVATE_USE1, autograd_key_of

DEFAULTS = tuple(step.alias for step in PRECEDENCE if step.rule is Rule.DEFAULT)
"""The alias keys whose kernel is a backend kernel for any backend."""
QUANTIZED = "Quantized"
OF_OTHERS = "backward() warns, and follows the differentiable operators that the kernel calls"
_GRADIENT = re.compile(r"(?i:grad)|^g$|^d[_A-Z]|^d(?:o|out|output|y|x|z|l|loss)\d*$")
BACKWARD = ("backward", "bwd", "grad")
"""Ends of the names of operators that compute the derivative of another one."""


class _Lack(NamedTuple):
    """Autograd kernels that a pattern lacks.

    above: the keys with a backend kernel, and the autograd keys of each. missing: nothing is there, and a call raises.
    """

    above: Mapping[str, Sequence[str]]
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
            written = tuple(key for key in view.written_keys(name) if key in lack.above)
            if written or (name.namespace in differentiable and view.concerns(name, tuple(lack.above))):
                yield _finding(view, name, lack, written)


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
    lacking = missing or fallback
    return _Lack(lacking, bool(missing)) if lacking else None


def _served(view: View, pattern: Pattern) -> Mapping[str, tuple[str, ...]]:
    """The keys with a backend kernel, and the backend keys whose slot each fills."""
    universe = view.universe
    served: dict[str, tuple[str, ...]] = {}
    for key in pattern.keys:
        if key in DEFAULTS:
            served[key] = tuple(
                backend for backend in universe.backends if backend != META and pattern.decision(backend).source == key
            )
        elif key != META and key in universe.slot and universe.runtime_parts[key][0] != QUANTIZED:
            served[key] = (key,)
    return served


def _namespaces_with_autograd(view: View) -> frozenset[str | None]:
    patterns = filter(view.autograd_kernels, view.patterns)
    return frozenset(name.namespace for pattern in patterns for name in pattern.operators)


def calls_others(kernel: Kernel) -> bool:
    """True if a kernel is known to call other operators, whose derivatives count where autograd is on."""
    return kernel.redispatches is not None and kernel.redispatches.kind is RedispatchKind.OTHER_OPERATORS


def _finding(view: View, name: OperatorName, lack: _Lack, written: tuple[str, ...]) -> Finding:
    """written: the keys whose kernels the user's files register."""
    own = written or tuple(lack.above)
    above = tuple(dict.fromkeys(autograd_key for key in own for autograd_key in lack.above[key]))
    active = view.active(name)
    where = "a kernel" if len(own) == 1 else "kernels"
    holds, is_empty = ("holds", "is empty") if len(above) == 1 else ("hold", "are empty")
    signs: tuple[tuple[str, Span | None], ...] = ()
    if lack.missing:
        outcome, severity = f'{is_empty}, so a call raises "Could not run"', Severity.ERROR
        if view.extends_backend and set(own) == {PRIVATE_USE1}:
            outcome, severity = f"{outcome}, unless the backend's library has a fallback there", Severity.INFO
    elif "!" in (view.schema_text(name) or ""):
        outcome, severity = f"{holds} PyTorch's fallback, which ignores arguments that are written to", Severity.INFO
    elif all(calls_others(active[key].kernel) for key in own):
        outcome, severity = f"{holds} PyTorch's fallback: {OF_OTHERS}", Severity.INFO
    else:
        with_autograd, derivatives = tuple(_with_autograd(view, name)), tuple(_derivatives(view, name))
        signs = (*with_autograd, *derivatives)
        outcome = f"{holds} PyTorch's fallback: {OF_OTHERS}, if there are any"
        is_differentiated = with_autograd or (derivatives and name.namespace not in view.namespaces.in_sources)
        severity = Severity.WARNING if is_differentiated else Severity.INFO
    keys = autograd_keys(view, name, above)
    return CHECK.finding(
        f"{name} has {where} at {keys_text(own)} but none for autograd: {keys_text(above)} {outcome}",
        name,
        above[0],
        at=active.get(own[0]),
        related=signs,
        details=(("backend kernels", ", ".join(lack.above)), ("autograd keys", ", ".join(above))),
        tip=f"register a kernel at {keys_text(keys)}, or a fallthrough there if the operator has no derivative",
        fix=own_kernels(view, name, keys),
        severity=severity if written else Severity.INFO,
        slots=[(name, key) for key in above],
    )


def _with_autograd(view: View, name: OperatorName) -> Iterator[tuple[str, Span | None]]:
    """Other keys and overloads of the operator with an autograd kernel, and its place."""
    for overload in view.overloads.get(name.name, ()):
        for key in view.autograd_kernels(view.pattern(overload))[:1]:
            yield f"{overload} has an autograd kernel at {key}", view.place(overload, key)


def _derivatives(view: View, name: OperatorName) -> Iterator[tuple[str, Span | None]]:
    """Operators that are named like the derivative of one that the files define, and their places."""
    for ending in BACKWARD if view.is_defined_by_files(name) else ():
        for overload in view.overloads.get(f"{name.name}_{ending}", ()):
            if _takes_a_gradient(view, overload):
                yield f"{overload} may be its derivative", view.defined_at(overload)


def _takes_a_gradient(view: View, name: OperatorName) -> bool:
    """True if an argument is called like a gradient, such as grad_output or dout, or the schema is not known."""
    schema = view.schema(name)
    return schema is None or any(_GRADIENT.search(argument.name) for argument in schema.arguments)


CHECK = Check.of(find, __doc__, "DC203", Severity.WARNING, lacks=MissingPart.KERNEL)
