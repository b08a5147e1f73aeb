"""Everything that the built library registers is declared.

Every answer ignores what is registered but not declared: a kernel that takes a slot from a composite one, or an
operator that no check looks at. `dispatch-cli crossref FILE --live --import MODULE` reports kernels of the declared
operators, other operators in the namespaces in which the declarations define operators, and backend fallbacks. For an
operator that the declarations do not define, such as one of PyTorch's own, only kernels registered by the imported
modules count.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Bad, because the kernel at CUDA is not declared:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
```

Fix: declare it, or remove the registration. `dispatch-cli capture --import MODULE` writes everything that is
registered.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.built import DeclaredOperator, DriftComparison, place_words, places_of
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is there and not declared."""
    library = view.built
    assert library is not None, "the check needs a library"
    found = DriftComparison(view, library)
    for operator in found.operators:
        if operator.built is not None:
            yield from _kernels(found, operator)
    if not view.is_whole:
        return
    declared_names = frozenset(map(str, view.names))
    for text, built in library.operators.items():
        namespace = OperatorName.parse(text).namespace or ""
        if text not in declared_names and namespace in found.namespaces and (built.imported or not library.modules):
            message = f"{text} {_undeclared(found)}, as other operators of {namespace} are"
            yield CHECK.finding(message, text, span=found.namespaces[namespace], subject="operator")
    span = next(iter(found.namespaces.values()), None)
    for key, fallback in library.fallbacks.items():
        if fallback.imported and key not in view.dispatcher.fallbacks:
            message = f"the backend fallback {fallback.debug} at {key} {_undeclared(found)}"
            yield CHECK.finding(message, key=key, span=span, subject="fallback")
    for declared, there in found.higher_order:
        if there is None or declared.adds:
            continue
        known = places_of(declared, view.universe)
        for place, impl in places_of(there).items():
            if place not in known:
                where = place_words(place)
                message = f"{declared.name}: the implementation {impl.kernel} for {where} {_undeclared(found)}"
                yield CHECK.finding(message, declared.name, span=declared.span, subject=where)


def _undeclared(found: DriftComparison) -> str:
    return f"is registered in {found.library.source}, but not declared"


def _kernels(found: DriftComparison, operator: DeclaredOperator) -> Iterator[Finding]:
    name, built, view = operator.name, operator.built, found.view
    assert built is not None, "the library has the operator"
    active = view.active(name)
    span: Span | None = operator.defined_at or next((one.kernel.span for _, one in found.kernels(operator)), None)
    for key, kernel in built.kernels.items():
        if key not in active and (kernel.imported or operator.defined_at is not None):
            what = "fallthrough" if kernel.fallthrough else "kernel"
            message = f"{name}: the {what} at {key} {_undeclared(found)}"
            details = (("registered", kernel.debug),)
            yield CHECK.finding(message, name, key, span=span, details=details, subject="kernel")
    known = frozenset(view.python_keys(name))
    for key in built.python:
        if key not in known:
            message = f"{name}: the kernel of the Python dispatcher at {key} {_undeclared(found)}"
            yield CHECK.finding(message, name, key, span=span, subject="python kernel")


CHECK = Check.of(find, __doc__, "DC702", Severity.WARNING, needs=(Need.BUILT,), default=False)
