"""Results of an operator can be functionalized, as torch.compile does it.

Compiling replaces writes and views by operators without them. It refuses an operator whose results have aliases:
"Found a custom (non-ATen) operator whose output has alias annotations" (`FunctionalizeFallbackKernel.cpp`), also where
a fake implementation is registered. From PyTorch 2.13 on it takes `f_(Tensor(a!) x) -> Tensor(a!)` with the tag
`torch.Tag.inplace`, and an operator that returns its keyword-only outputs with `torch.Tag.out`
(`can_auto_functionalize` in `torch/_higher_order_ops/auto_functionalize.py`).

Where the library has another form of the operator that compiled code can call, such as ``relu`` beside ``relu_``, the
finding is an info.

An operator that decomposes is not refused, nor one with a kernel at Functionalize. One that cannot be traced, because
it has no fake implementation and no kernel at Meta or CompositeExplicitAutograd, breaks the graph before, and is not
reported.

Bad, because the result is the argument, and no tag says so:

```yaml
dispatch: 1
operators:
  - func: "demo::relu_(Tensor(a!) x) -> Tensor(a!)"
    dispatch: {CPU: relu_cpu, Autograd: fallthrough}
    fake: relu_fake
```

Good, in every version of PyTorch:

```yaml
dispatch: 1
operators:
  - func: "demo::relu_(Tensor(a!) x) -> ()"
    dispatch: {CPU: relu_cpu, Autograd: fallthrough}
    fake: relu_fake
```

Fix: return nothing; or, from PyTorch 2.13 on, give the operator the tag. An operator that returns nothing, and is not
made by `torch.library.custom_op`, needs a kernel at ADInplaceOrView that calls `increment_version`: PyTorch's
`autogradNotImplementedInplaceOrViewFallback` counts only writes that are returned. For a view, return a clone and
remove the alias, or register the operator at CompositeImplicitAutograd, written in operators that PyTorch knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.support_words import HELP
from dispatch_cli.checks.view import View
from dispatch_cli.engine.support.cell import Reason
from dispatch_cli.engine.support.hazards import TRACED, is_triton_op, not_functionalized
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import writes

_REFUSED = (Reason.MUTABLE_RESULT, Reason.ALIASED_RESULT)


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator that the files define, and that functionalization refuses for its results."""
    for name in view.touched:
        if "(" in (view.schema_text(name) or "").rpartition("->")[2] and view.answers_for_schema(name):
            yield from _of_operator(view, name)


def _of_operator(view: View, name: OperatorName) -> Iterator[Finding]:
    definition = view.dispatcher.operator(name).definition
    schema, keys = view.schema(name), view.pattern(name).keys
    if schema is None or definition is None or TRACED.isdisjoint(keys):
        return
    if is_triton_op(view.kernels(name)):
        return
    reason = not_functionalized(view.universe, schema, definition.tags, keys)
    if reason not in _REFUSED:
        return
    what = "what it writes to" if any(map(writes, schema.returns)) else "a view of an argument"
    yield CHECK.finding(
        f"{name} returns {what}, as the alias of its result says: torch.compile refuses it",
        name,
        span=view.defined_at(name),
        details=(("schema", str(schema)),),
        tip=HELP[reason],
        severity=Severity.INFO if _has_functional_form(view, name) else None,
    )


def _has_functional_form(view: View, name: OperatorName) -> bool:
    """True if compiled code has another form of the operator to call, which returns a new tensor."""
    bases = {name.name, name.name.rstrip("_"), name.name.removesuffix("_out")}
    forms = (form for base in bases for form in view.overloads.get(base, ()))
    schemas = (view.schema(form) for form in forms if form != name)
    return any(form is not None and form.returns and all(it.alias is None for it in form.returns) for form in schemas)


CHECK = Check.of(find, __doc__, "DC310", Severity.WARNING)
