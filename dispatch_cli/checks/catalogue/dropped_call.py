"""An operator that returns nothing declares what it writes to.

`torch.compile` and `torch.export` trace calls, and remove those whose results are not used. A call of an operator that
returns nothing is kept only for what its schema says that it writes to. `apply_token_bitmask(Tensor logits, Tensor
bitmask) -> ()` writes when it is called eagerly; compiled, the call is removed without a word, and ``logits`` stays as
it was (`remove_unused` of `torch.fx`; xgrammar and DeepSpeed have such operators).

The call is removed if it can be traced: with a fake implementation, a kernel at Meta or at CompositeExplicitAutograd,
or with one for a backend beside one at CompositeImplicitAutograd. Then the finding is a warning. A composite kernel in
C++ that reads the data of tensors fails on fake ones: then compiling fails instead, and the finding is an info. If it
cannot be traced, compiling breaks the graph there, and the call runs: that is an info, for a fake implementation makes
it a wrong result. An operator that decomposes is not reported, nor one without tensor arguments, nor one that
`torch.fx.node.has_side_effect` or `register_effect` names in the sources.

Bad, because the schema does not say that ``logits`` is written to:

```yaml
dispatch: 1
operators:
  - func: "demo::mask_(Tensor logits, Tensor mask) -> ()"
    dispatch: {CPU: mask_cpu, Autograd: fallthrough}
    fake: mask_fake
```

Good:

```yaml
dispatch: 1
operators:
  - func: "demo::mask_(Tensor(a!) logits, Tensor mask) -> ()"
    dispatch: {CPU: mask_cpu, Autograd: fallthrough}
    fake: mask_fake
```

Fix: declare the write, as in ``Tensor(a!) logits``, or with `mutates_args` of `torch.library.custom_op`. If the
operator writes to nothing, and does something else, such as to print, name it in `torch.fx.node.has_side_effect`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import MAX_NAMED
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.schema_facts import BUILTIN
from dispatch_cli.engine.python.functions import computes, undeclared_writes
from dispatch_cli.engine.support.hazards import (
    decomposes,
    drops_call,
    is_triton_op,
    traced_without_data,
    writes_in_silence,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, takes_tensors

TIP = "declare what it writes to, such as Tensor(a!); or name it in torch.fx.node.has_side_effect"

_DROPPED = "torch.compile removes its calls"
_BREAKS = "compiling breaks the graph there; with a fake implementation, torch.compile would remove its calls"
_OF_CPP = (
    "torch.compile runs its composite kernel with fake tensors, and fails where that reads their data; "
    "where it does not, its calls are removed"
)


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator that the files define, and whose calls seem to do nothing."""
    for name in view.touched:
        if (view.schema_text(name) or "").rstrip().endswith("-> ()") and view.answers_for_schema(name):
            yield from _of_operator(view, name)


def _of_operator(view: View, name: OperatorName) -> Iterator[Finding]:
    schema, keys = view.schema(name), view.pattern(name).keys
    if schema is None or not writes_in_silence(schema) or view.state.fake_rules(name).side_effects:
        return
    if name.namespace in BUILTIN or is_triton_op(view.kernels(name)):
        return
    if not keys or decomposes(view.universe, schema, keys) or _writes_are_known(view, name, schema):
        return
    drops = drops_call(view.universe, schema, keys)
    reads_data = drops and not traced_without_data(view.active(name))
    tensors = [argument.name for argument in schema.arguments if takes_tensors(argument)]
    shown = " or ".join(tensors) if len(tensors) <= MAX_NAMED else "any of its tensors"
    effect = _OF_CPP if reads_data else _DROPPED if drops else _BREAKS
    yield CHECK.finding(
        f"{name} returns nothing, and its schema declares no write to {shown}: {effect}",
        name,
        span=view.defined_at(name),
        details=(("schema", str(schema)),),
        tip=TIP,
        severity=None if drops and not reads_data else Severity.INFO,
    )


def _writes_are_known(view: View, name: OperatorName, schema: FunctionSchema) -> bool:
    """True if `undeclared-write` reports it, by the source of a kernel."""
    return any(
        computes(view.universe, key) and any(undeclared_writes(registration.kernel, schema))
        for key, registration in view.active(name).items()
    )


CHECK = Check.of(find, __doc__, "DC309", Severity.WARNING)
