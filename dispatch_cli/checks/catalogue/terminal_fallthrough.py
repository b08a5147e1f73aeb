"""A fallthrough has a kernel below it.

A fallthrough sends a call on to the next key below. Below a backend key there is none, so the call continues at
Undefined, the slot of calls without tensors. If that slot is empty, PyTorch raises "There were no tensor arguments to
this function". If the same fallthrough fills it, an internal assert fails: "fallthrough_kernel was executed but it
should have been short-circuited by the dispatcher" (`fallthrough_kernel` in
`aten/src/ATen/core/boxing/KernelFunction.cpp`). If a composite kernel fills it, that kernel runs, at a key that it does
not expect. A fallthrough at the autograd key of a backend without any kernel is the same mistake one key earlier:
"Could not run".

Bad, because no key is below CPU:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: fallthrough, CUDA: op_cuda, Autograd: op_autograd}
```

Bad, because the fallthrough at AutogradXLA sends the call on to XLA, which is empty:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, AutogradCPU: op_autograd, AutogradXLA: fallthrough}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Fix: register a kernel where the call ends, or remove the fallthrough; PyTorch's error then names the missing kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.pattern import Pattern
from dispatch_cli.checks.text import backend_keys, keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD, UNDEFINED

NO_TENSORS = 'PyTorch raises "There were no tensor arguments to this function"'
ASSERTS = 'PyTorch fails with "fallthrough_kernel was executed but it should have been short-circuited"'
COULD_NOT_RUN = 'PyTorch raises "Could not run"'
TIP = "register a kernel at the backend key, or remove the fallthrough; PyTorch's error then names the missing kernel"


def find(view: View) -> Iterator[Finding]:
    """A finding for every fallthrough at which a call ends, and for every one with nothing below."""
    for pattern in view.patterns:
        if pattern.fallthrough:
            yield from _of_pattern(view, pattern)
    if view.is_whole:
        yield from _fallbacks(view)


def _of_pattern(view: View, pattern: Pattern) -> Iterator[Finding]:
    ended: dict[str, list[str]] = {}
    for key in backend_keys(view.universe):
        source = pattern.decision(key).source
        if source is not None and source in pattern.fallthrough:
            ended.setdefault(source, []).append(key)
    for source, keys in ended.items():
        severity, outcome = _at_undefined(pattern)
        why = f"no key is below the fallthrough at {source}"
        if source not in view.universe.slot:
            why = f"the fallthrough at {source} fills {keys_text(keys)}, and no key is below"
        yield from _findings(view, pattern, source, f"{why}: {outcome}", severity)
    for key in () if ended else _leading_nowhere(view, pattern):
        backend = view.universe.runtime_parts[key][1] if key in view.universe.slot else None
        goal = f"sends calls on to {backend}" if backend is not None else "sends calls on to the backends"
        empty = "which is empty" if backend is not None else "which are empty"
        why = f"the fallthrough at {key} {goal}, {empty}: {COULD_NOT_RUN}"
        yield from _findings(view, pattern, key, why, Severity.WARNING)


def _findings(view: View, pattern: Pattern, key: str, why: str, severity: Severity) -> Iterator[Finding]:
    for name in pattern.operators:
        if view.schema_text(name) is not None:
            span = view.place(name, key)
            yield CHECK.finding(f"{name}: {why}", name, key, span=span, mark=key, tip=TIP, severity=severity)


def _at_undefined(pattern: Pattern) -> tuple[Severity, str]:
    """Severity and end of a call that has lost its last key."""
    decision = pattern.decision(UNDEFINED)
    if decision.source is None:
        return Severity.ERROR, NO_TENSORS
    if decision.source in pattern.fallthrough:
        return Severity.ERROR, ASSERTS
    return Severity.WARNING, f"a call continues at Undefined and runs the kernel at {decision.source}"


def _leading_nowhere(view: View, pattern: Pattern) -> Iterator[str]:
    """The autograd keys whose fallthrough has nothing behind it; the first key of all when nothing is anywhere."""
    universe = view.universe
    if not any(_is_answered(view, pattern, key) for key in backend_keys(universe)):
        if len(pattern.fallthrough) == len(pattern.keys):
            yield pattern.keys[0]
        return
    for key in pattern.keys:
        if key in pattern.fallthrough and key in universe.slot and key in universe.covered_by(AUTOGRAD):
            backend = universe.runtime_parts[key][1]
            if backend is not None and not _is_answered(view, pattern, backend):
                yield key


def _is_answered(view: View, pattern: Pattern, key: str) -> bool:
    """True if something of the operator's, or a fallback by a file, is in a slot; PyTorch's own at Meta raises."""
    rule = pattern.rule(key)
    if rule is Rule.FALLBACK:
        return view.dispatcher.fallbacks[key].kernel.span is not None
    return rule is not Rule.MISSING


def _fallbacks(view: View) -> Iterator[Finding]:
    for key in backend_keys(view.universe):
        fallback = view.dispatcher.fallbacks.get(key)
        if fallback is not None and fallback.kernel.fallthrough:
            yield CHECK.finding(
                f"the backend fallback at {key} falls through, and no key is below: for an operator without a kernel "
                f"at {key} {NO_TENSORS}",
                key=key,
                at=fallback,
                tip="remove the fallback, and PyTorch's error names the missing kernel; or register one that works",
            )


CHECK = Check.of(find, __doc__, "DC304", Severity.ERROR, lacks=MissingPart.KERNEL)
