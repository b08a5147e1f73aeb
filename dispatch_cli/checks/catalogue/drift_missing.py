"""The built library has what the declarations say.

The declarations say what a library registers, and every answer about it is as right as they are. `dispatch-cli crossref
FILE --live --import MODULE` imports the library into a PyTorch and holds the declarations against what is registered
there. This check finds an operator, a kernel, a backend fallback or a Python implementation that is declared and not
there: it was removed or renamed in the sources, it is in a part that was not built (a CUDA kernel in a build for the
CPU), or nothing imports the module that registers it. Debug texts are not compared.

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

Fix: take away the declaration, or register what it says. Where it is right for other builds, keep it in a file of its
own, or suppress the finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.built import DeclaredOperator, DriftComparison, places_of
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View

NO_MODULES = "no module was imported: name the one that registers it, by --import MODULE"


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is declared and not there."""
    library = view.built
    assert library is not None, "the check needs a library"
    found = DriftComparison(view, library)
    for operator in found.operators:
        if operator.built is None:
            yield _operator(found, operator)
        else:
            yield from _kernels(found, operator)
    for key, registration in view.own_fallbacks.items():
        if key not in library.fallbacks:
            message = f"{library.source} has no backend fallback at {key}"
            yield CHECK.finding(message, key=key, at=registration, subject="fallback")
    for declared, built in found.higher_order:
        if built is None:
            message = f"{declared.name}: {library.source} has no such higher-order operator"
            yield CHECK.finding(message, declared.name, span=declared.span, tip=_tip(found))
            continue
        there = places_of(built, view.universe)
        for place, impl in places_of(declared).items():
            if place not in there:
                where = f"the {place.kind.value} {place.name}" if place.name else place.kind.value
                message = f"{declared.name}: {library.source} has no implementation for {where}"
                yield CHECK.finding(message, declared.name, span=impl.span or declared.span, subject=where)


def _operator(found: DriftComparison, operator: DeclaredOperator) -> Finding:
    message = f"{operator.name}: {found.library.source} has no such operator"
    span = operator.defined_at
    if span is None:
        span = next((one.kernel.span for _, one in found.kernels(operator)), None)
    return CHECK.finding(message, operator.name, span=span, tip=_tip(found))


def _tip(found: DriftComparison) -> str | None:
    return None if found.library.modules else NO_MODULES


def _kernels(found: DriftComparison, operator: DeclaredOperator) -> Iterator[Finding]:
    name, built = operator.name, operator.built
    assert built is not None, "the library has the operator"
    if operator.defined_at is not None and built.schema is None:
        message = f"{name}: {found.library.source} has kernels of the operator and no definition"
        yield CHECK.finding(message, name, span=operator.defined_at, subject="definition")
    for key, registration in found.kernels(operator):
        if key not in built.kernels:
            message = f"{name}: {found.library.source} has no kernel at {key}"
            yield CHECK.finding(message, name, key, at=registration, subject="kernel")
    there = frozenset(built.python)
    for key, span in found.python_kernels(operator).items():
        if key not in there:
            message = f"{name}: {found.library.source} has no kernel of the Python dispatcher at {key}"
            yield CHECK.finding(message, name, key, span=span, mark=key, subject="python kernel")


CHECK = Check.of(find, __doc__, "DC701", Severity.ERROR, needs=(Need.BUILT,), default=False)
