"""Schemas and fallthroughs are declared as the built library registers them.

The operator or the kernel is registered, but not as it is declared: its schema, its alias analysis or its tags (where
the declarations have some) are others, or one of the two is a fallthrough and the other a kernel that runs, or one is a
fake implementation and the other a kernel of another kind. `dispatch-cli crossref FILE --against live --import MODULE`
reports it. Debug texts are not compared: they change with every line of the sources.

In the examples the library registers this:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Bad, because the library's operator has another argument:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Bad, because the library's kernel at AutocastCPU falls through:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: op_cast}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd, AutocastCPU: fallthrough}
```

Fix: declare what the library registers, or change the library.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.built import FAKE, DeclaredOperator, DriftComparison, functions, places_of
from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.built import BuiltOperator


def find(view: View) -> Iterator[Finding]:
    """A finding for every schema and every kernel that is not as it is declared."""
    library = view.built
    assert library is not None, "the check needs a library"
    drift = DriftComparison(view, library)
    for operator in drift.operators:
        if operator.built is not None:
            yield from _operator(drift, operator)
    for key, registration in view.own_fallbacks.items():
        built = library.fallbacks.get(key)
        if built is None or not library.has(built):
            continue
        if built.fallthrough is not registration.kernel.fallthrough:
            message = f"the backend fallback at {key} {_skips(drift, built.fallthrough)}"
            yield CHECK.finding(message, key=key, at=registration, subject="fallback")
    for declared, there in drift.higher_order:
        impls = {} if there is None else places_of(there, view.universe)
        for place, impl in places_of(declared).items():
            other = impls.get(place)
            if other is not None and other.fallthrough is not impl.fallthrough:
                message = f"{declared.name}: the implementation at {place.name} {_skips(drift, other.fallthrough)}"
                yield CHECK.finding(message, declared.name, place.name, span=impl.span, mark=place.name)


def _operator(drift: DriftComparison, operator: DeclaredOperator) -> Iterator[Finding]:
    name, built = operator.name, operator.built
    assert built is not None, "the library has the operator"
    declared, is_known = drift.view.schema_text(name), not drift.view.is_unknown(name)
    if is_known and operator.defined_at is not None and built.schema is not None and built.schema != declared:
        details = (("declared", declared or ""), ("built", built.schema))
        message = f"{name}: the schema in {drift.library.source} is not the declared one"
        yield CHECK.finding(message, name, span=operator.defined_at, details=details, subject="schema")
    if operator.defined_at is not None:
        yield from _definition(drift, operator, built)
    for key, registration, kernel in drift.pairs(operator):
        if kernel.fallthrough is not registration.kernel.fallthrough:
            message = f"{name}: the kernel at {key} {_skips(drift, kernel.fallthrough)}"
            yield CHECK.finding(message, name, key, at=registration, subject="fallthrough")
        for what, is_declared, is_there in functions(registration.kernel, kernel):
            if what == FAKE and None in (is_declared, is_there) and (is_declared or is_there):
                message = f"{name}: the kernel at {key} {_fake(drift, bool(is_there))}"
                yield CHECK.finding(message, name, key, at=registration, subject=what)


def _definition(drift: DriftComparison, operator: DeclaredOperator, built: BuiltOperator) -> Iterator[Finding]:
    """Tags, where the files say some, and the alias analysis.

    Tags are not compared where the declarations are of another PyTorch, whose ``torch.library`` may add others.
    """
    name, span, source = operator.name, operator.defined_at, drift.library.source
    definition = drift.view.dispatcher.operator(name).definition
    if definition is None or not built.imported:
        return
    tags, there = frozenset(definition.tags), frozenset(built.tags or ())
    if tags and tags != there and drift.library.universe in ("", drift.view.universe.name):
        details = (("declared", ", ".join(sorted(tags))), ("built", ", ".join(sorted(there))))
        message = f"{name}: the tags in {source} are not the declared ones"
        yield CHECK.finding(message, name, span=span, details=details, subject="tags")
    kind = "default" if definition.alias_analysis is None else definition.alias_analysis.value
    if built.alias_analysis not in (None, kind):
        details = (("declared", kind), ("built", built.alias_analysis or ""))
        message = f"{name}: the alias analysis kind in {source} is not the declared one"
        yield CHECK.finding(message, name, span=span, details=details, subject="alias analysis")


def _fake(drift: DriftComparison, is_there: bool) -> str:
    """is_there: the registered kernel is a fake implementation, and the declared one is not."""
    source = drift.library.source
    if is_there:
        return f"is a fake implementation in {source}, but is declared as another kernel"
    return f"is not a fake implementation in {source}, but is declared as one"


def _skips(drift: DriftComparison, fallthrough: bool) -> str:
    """Difference between a registered kernel and the declared one. fallthrough: of the registered one."""
    source = drift.library.source
    if fallthrough:
        return f"falls through in {source}, but is declared as a kernel that runs"
    return f"runs in {source}, but is declared as a fallthrough"


CHECK = Check.of(find, __doc__, "DC703", Severity.ERROR, needs=(Need.BUILT,), default=False)
