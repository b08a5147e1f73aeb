"""Everything that is declared is registered by the built library.

Every answer is only as right as the declarations. `dispatch-cli crossref FILE --against live --import MODULE` imports
the library into a PyTorch and compares the declarations with what is registered there. This check reports an operator,
a kernel, a backend fallback, a Python implementation, or a fake implementation or a backward of `torch.library` that is
declared but not registered: it was removed or renamed in the sources, it is in a part that was not built (a CUDA kernel
in a CPU build), or nothing imports the module that registers it. A kernel of PyTorch's own at the same key does not
count: only what the modules of `--import` register does. Debug texts are not compared.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Bad, because the library has no kernel at CUDA:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Fix: remove the declaration, or register what it declares. If it is right for other builds, keep it in a file of its
own, or suppress the finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.built import DeclaredOperator, DriftComparison, functions, place_words, places_of
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.built import BuiltKernel
from dispatch_cli.model.text.suggest import did_you_mean

NO_MODULES = "no module was imported; name the one that registers it with --import MODULE"


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is declared and not there."""
    library = view.built
    assert library is not None, "the check needs a library"
    drift = DriftComparison(view, library)
    for operator in drift.operators:
        if operator.built is None:
            yield _operator(drift, operator)
        else:
            yield from _kernels(drift, operator)
    for key, registration in view.own_fallbacks.items():
        fallback = library.fallbacks.get(key)
        if not library.has(fallback):
            message = f"the backend fallback at {key} {_missing(drift, fallback)}"
            details = _details(fallback)
            yield CHECK.finding(message, key=key, at=registration, details=details, subject="fallback")
    for declared, built in drift.higher_order:
        if built is None:
            message = f"the higher-order operator {declared.name} {_missing(drift)}"
            yield CHECK.finding(message, declared.name, span=declared.span, tip=_tip(drift))
            continue
        there = places_of(built, view.universe)
        for place, impl in places_of(declared).items():
            if place not in there:
                where = place_words(place)
                message = f"{declared.name}: the implementation for {where} {_missing(drift)}"
                yield CHECK.finding(message, declared.name, span=impl.span or declared.span, subject=where)


def _operator(drift: DriftComparison, operator: DeclaredOperator) -> Finding:
    message = f"{operator.name} {_missing(drift)}"
    span = operator.defined_at
    if span is None:
        span = next((registration.kernel.span for _, registration in drift.kernels(operator)), None)
    meant = drift.renamed.get(operator.name)
    tip = _tip(drift) if meant is None else did_you_mean([str(meant)])
    return CHECK.finding(message, operator.name, span=span, tip=tip)


def _missing(drift: DriftComparison, other: BuiltKernel | None = None) -> str:
    """other: the kernel that PyTorch itself has there."""
    source = drift.library.source
    if other is not None:
        return f"is declared, but not registered by the library: the one there in {source} is PyTorch's own"
    return f"is declared, but not registered in {source}"


def _details(other: BuiltKernel | None) -> tuple[tuple[str, str], ...]:
    return () if other is None else (("PyTorch's kernel", other.debug),)


def _tip(drift: DriftComparison) -> str | None:
    return None if drift.library.modules or not drift.library.is_live else NO_MODULES


def _kernels(drift: DriftComparison, operator: DeclaredOperator) -> Iterator[Finding]:
    name, built = operator.name, operator.built
    assert built is not None, "the library has the operator"
    if operator.defined_at is not None and built.schema is None:
        message = f"{name}: the schema {_missing(drift)}, which has kernels of the operator"
        yield CHECK.finding(message, name, span=operator.defined_at, subject="definition")
    for key, registration in drift.kernels(operator):
        kernel = built.kernels.get(key)
        if not drift.library.has(kernel):
            message = f"{name}: the kernel at {key} {_missing(drift, kernel)}"
            yield CHECK.finding(message, name, key, at=registration, details=_details(kernel), subject="kernel")
    for key, registration, kernel in drift.pairs(operator):
        for what, is_declared, is_there in functions(registration.kernel, kernel):
            if is_declared and is_there is False:
                message = f"{name}: the {what} {_missing(drift)}"
                yield CHECK.finding(message, name, key, span=registration.kernel.span, subject=what)
    there = frozenset(built.python)
    for key, span in drift.python_kernels(operator).items():
        if key not in there:
            message = f"{name}: the kernel of the Python dispatcher at {key} {_missing(drift)}"
            yield CHECK.finding(message, name, key, span=span, mark=key, subject="python kernel")


CHECK = Check.of(find, __doc__, "DC701", Severity.ERROR, needs=(Need.BUILT,), default=False)
