"""Everything that the built library registers is declared.

Every answer ignores what is registered but not declared: a kernel that takes a slot from a composite one, or an
operator that no check looks at. `dispatch-cli crossref FILE --against live --import MODULE` reports what the imported
modules register: other operators in the namespaces in which the declarations define operators, kernels of any operator,
also of PyTorch's own, fake implementations and backwards of `torch.library`, and backend fallbacks. Operators in other
namespaces may be of another library that the modules import: they are counted, one finding with severity info for each
namespace. With `--op`, only the operators that it chooses are reported. A kernel that the declarations leave out
(`changes`), although it is registered, is reported as well, of PyTorch itself, too.

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

from collections import Counter
from collections.abc import Iterator

from dispatch_cli.checks.built import DeclaredOperator, DriftComparison, functions, place_words, places_of
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.built import BuiltKernel, BuiltOperator
from dispatch_cli.model.declarations import WILDCARD
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is there and not declared."""
    library = view.built
    assert library is not None, "the check needs a library"
    drift = DriftComparison(view, library)
    for operator in drift.operators:
        if operator.built is not None:
            span = operator.defined_at or next((entry.kernel.span for _, entry in drift.kernels(operator)), None)
            yield from _kernels(drift, operator.name, operator.built, span)
            yield from _functions(drift, operator)
    yield from _others(drift)
    if not view.is_whole:
        return
    for key, fallback in library.fallbacks.items():
        registration = view.dispatcher.fallbacks.get(key)
        is_declared = registration is not None and (not library.apart or drift.is_declared(registration))
        if fallback.imported and not is_declared:
            message = f"the backend fallback at {key} {_undeclared(drift)}"
            details = _details(fallback)
            yield CHECK.finding(message, key=key, span=drift.place(WILDCARD), details=details, subject="fallback")
    for declared, there in drift.higher_order:
        if there is None or declared.adds:
            continue
        known = places_of(declared, view.universe)
        for place, impl in places_of(there).items():
            if place not in known:
                where = place_words(place)
                message = f"{declared.name}: the implementation {impl.kernel} for {where} {_undeclared(drift)}"
                yield CHECK.finding(message, declared.name, span=declared.span, subject=where)


def _others(drift: DriftComparison) -> Iterator[Finding]:
    """Findings about operators for which the user's own files register nothing."""
    renamed = frozenset(drift.renamed.values())
    elsewhere = Counter[str]()
    for name, built in drift.others.items():
        namespace = name.namespace or ""
        if name in renamed:
            continue
        if name in drift.declared or not (built.imported or not drift.library.modules):
            yield from _kernels(drift, name, built, drift.place(namespace))
        elif namespace in drift.namespaces:
            message = f"{name} {_undeclared(drift)}, as other operators of {namespace} are"
            yield CHECK.finding(message, name, span=drift.place(namespace), subject="operator")
        else:
            elsewhere[namespace] += 1
    for namespace, count in elsewhere.items():
        what = "an operator" if count == 1 else f"{count:,} operators"
        message = f"{what} in the namespace {namespace} {_undeclared(drift, count > 1)}"
        tip = "if another library that the modules import registers them, nothing is to be done"
        place = drift.place(namespace)
        yield CHECK.finding(message, span=place, tip=tip, subject=f"namespace {namespace}", severity=Severity.INFO)


def _undeclared(drift: DriftComparison, several: bool = False) -> str:
    return f"{'are' if several else 'is'} registered in {drift.library.source}, but not declared"


def _details(kernel: BuiltKernel) -> tuple[tuple[str, str], ...]:
    return (("kernel", kernel.debug),)


def _kernels(drift: DriftComparison, name: OperatorName, built: BuiltOperator, span: Span | None) -> Iterator[Finding]:
    library = drift.library
    is_defined = not library.apart and drift.view.is_defined_by_files(name)
    declared = drift.declared_keys(name)
    active = drift.view.active(name) if name in drift.view.dispatcher else {}
    changes = {edit.key: edit.span for edit in drift.view.changes if edit.operator == name and edit.key not in active}
    for key, kernel in built.kernels.items():
        if key in changes:
            message = (
                f"{name}: the kernel at {key} is registered in {library.source}, and the declarations leave it out"
            )
            yield CHECK.finding(message, name, key, span=changes[key], details=_details(kernel), subject="kernel")
        elif key not in declared and (kernel.imported or is_defined):
            what = "fallthrough" if kernel.fallthrough else "kernel"
            message = f"{name}: the {what} at {key} {_undeclared(drift)}"
            yield CHECK.finding(message, name, key, span=span, details=_details(kernel), subject="kernel")
    known = drift.python_keys(name)
    for key in built.python:
        if key not in known and (library.apart or is_defined):
            message = f"{name}: the kernel of the Python dispatcher at {key} {_undeclared(drift)}"
            yield CHECK.finding(message, name, key, span=span, subject="python kernel")


def _functions(drift: DriftComparison, operator: DeclaredOperator) -> Iterator[Finding]:
    for key, registration, kernel in drift.pairs(operator):
        for what, is_declared, is_there in functions(registration.kernel, kernel):
            if is_there and is_declared is False:
                message = f"{operator.name}: the {what} {_undeclared(drift)}"
                yield CHECK.finding(message, operator.name, key, span=registration.kernel.span, subject=what)


CHECK = Check.of(find, __doc__, "DC702", Severity.WARNING, needs=(Need.BUILT,), default=False)
