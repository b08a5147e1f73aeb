"""C++ and Python choose the same kernel.

Two pieces of code choose an operator's kernel: the dispatch table of C++, and `resolve_key` in `torch/_ops.py`, which
is used when the Python dispatcher is on, as in tracing and with fake tensors. `resolve_key` sees the kernels that
`py_impl` registered, which the table does not, and it has a rule of its own: a kernel at
CompositeImplicitAutogradNestedTensor gives way to backend kernels in Python only. So a call can work while tracing it
fails. A Python kernel that runs instead of a C++ one is what `py_impl` is for, and is not reported. Reported is its
effect on other slots: a Python kernel at Meta takes AutogradMeta away from a composite kernel, and one at
CompositeImplicitAutograd makes AutogradOther ambiguous if there is a backend kernel.

It is a warning if C++ finds a kernel and Python finds none, and an info if Python finds another one. Over PyTorch alone
only the first kind is reported, as info: in 2.15, for example, `zeros_like` of nested tensors.

Bad, because in Python AutogradMeta has lost its kernel:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_decomposition}
    python_dispatch: {Meta: op_meta}
```

Good, because the kernel at Autograd stays in both:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_kernel, Autograd: op_autograd}
    python_dispatch: {Meta: op_meta}
```

Fix: register the Python kernel with `torch.library`, so that C++ sees it too; or register a kernel at the autograd key
as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import MAX_NAMED, keys_text
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.python.table import Divergence, Reason, divergences
from dispatch_cli.engine.rules import PRECEDENCE, Decision, Rule
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.names import OperatorName

NESTED = tuple(step.alias for step in PRECEDENCE if step.rule is Rule.NESTED)
"""The alias keys that give way to backend kernels in Python alone."""
NO_KERNEL = frozenset({Rule.MISSING, Rule.AMBIGUOUS})


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator of which Python runs another kernel than C++ at slots without a Python kernel."""
    bit_of = view.layout.registered_bit
    for pattern in view.patterns:
        nested = any(map(pattern.has, NESTED))
        for name in pattern.operators:
            python = view.python_keys(name)
            if nested or any(not bit_of[key] & pattern.registered for key in python):
                yield from _of_operator(view, name, pattern, python)


def _of_operator(view: View, name: OperatorName, pattern: Pattern, python: Set[str]) -> Iterator[Finding]:
    every = divergences(view.dispatcher, pattern.registered, python)
    differences = [slot for slot in every if slot.python.source not in python]
    if not differences:
        return
    written = set(view.written_keys(name))
    written.update(
        kernel.dispatch_key
        for kernel in view.state.python_kernels(name)
        if kernel.span is not None and kernel.by is Registrant.USER
    )
    by_files = [slot for slot in differences if not written.isdisjoint(slot.because) or slot.cpp.source in written]
    considered = by_files if view.has_files and name not in view.unknown_operators else differences
    failing = [slot for slot in considered if slot.python.rule in NO_KERNEL and slot.cpp.rule not in NO_KERNEL]
    if failing:
        yield _finding(view, name, failing, Severity.WARNING if by_files else Severity.INFO)
    elif by_files:
        yield _finding(view, name, by_files, Severity.INFO)


def _finding(view: View, name: OperatorName, slots: list[Divergence], severity: Severity) -> Finding:
    first = slots[0]
    alike = [slot for slot in slots if slot.python.rule is first.python.rule and slot.because == first.because]
    keys = [slot.key for slot in alike]
    because = keys_text(first.because)
    if first.reason is Reason.NESTED_RULE:
        why = f"in Python the kernel at {', '.join(NESTED)} gives way to the one at {because}"
    else:
        why = f"only Python sees the Python kernel at {because}"
    places = {kernel.dispatch_key: kernel.span for kernel in view.state.python_kernels(name)}
    python_place = next((places[key] for key in first.because if places.get(key) is not None), None)
    cpp_place = view.place(name, first.cpp.source) if first.cpp.source is not None else None
    return CHECK.finding(
        f"{name}: at {keys_text(keys)} C++ {_text(first.cpp)}, and Python {_text(first.python)}: {why}",
        name,
        first.key,
        span=python_place or cpp_place,
        mark=first.because[0] if python_place is not None else first.cpp.source,
        related=[("the kernel that C++ runs", cpp_place)] if python_place is not None else (),
        details=(("slots", ", ".join(keys)),) if len(keys) > MAX_NAMED else (),
        severity=severity,
        slots=[(name, key) for key in keys],
    )


def _text(decision: Decision) -> str:
    if decision.source is not None:
        return f"runs the kernel at {decision.source}"
    if decision.rule is Rule.FALLBACK:
        return "runs the backend fallback"
    return "finds no kernel" if decision.rule is Rule.MISSING else "cannot choose between two kernels"


CHECK = Check.of(find, __doc__, "DC403", Severity.WARNING)
