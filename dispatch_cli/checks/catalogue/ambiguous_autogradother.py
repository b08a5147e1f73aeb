"""AutogradOther is not ambiguous.

AutogradOther is the autograd key of all backends that have none of their own: mkldnn, FPGA, Vulkan and, in the table,
every sparse and quantized key. With a kernel at CompositeImplicitAutograd and one at such a backend, PyTorch cannot
tell which of the two a call at AutogradOther should run. It puts a kernel there that fails: "INTERNAL ASSERT FAILED …
has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther" (rule 6 of `dispatch-cli
rules`, from `aten/src/ATen/core/dispatch/OperatorEntry.cpp`; pytorch/pytorch#50246, hpcaitech/ColossalAI#1515).

Tensors of mkldnn, FPGA and the like carry AutogradOther. With a kernel at one of their keys, every call with such a
tensor fails outside of inference mode, which is an error. Sparse and quantized tensors carry the autograd key of their
device instead. With kernels at their keys only, the finding is a warning: the calls that fail are those with tensors of
the other backends, which the composite kernel would have served.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {MkldnnCPU: op_mkldnn, CompositeImplicitAutograd: op_decomposition}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {MkldnnCPU: op_mkldnn, CompositeImplicitAutograd: op_decomposition, AutogradOther: op_autograd_other}
```

Fix: register a kernel at AutogradOther, or none at the backend keys that share it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import entry_text, keys_text, own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD_OTHER, CATCH_ALL, autograd_key_of


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator with an ambiguous AutogradOther."""
    for pattern in view.patterns:
        if pattern.rule(AUTOGRAD_OTHER) is Rule.AMBIGUOUS:
            yield from _of_pattern(view, pattern)


def _of_pattern(view: View, pattern: Pattern) -> Iterator[Finding]:
    culprits = view.dispatcher.keys_in(pattern.decision(AUTOGRAD_OTHER).blockers)
    # not only the culprits': tensors of HIP carry AutogradOther too, although a kernel at HIP makes nothing ambiguous
    failing = [key for key in pattern.keys if autograd_key_of(view.universe, key) == AUTOGRAD_OTHER]
    with_tensors = f"calls with {keys_text(failing)} tensors fail outside of inference mode"
    fails = with_tensors if failing else f"calls at {AUTOGRAD_OTHER} fail"
    for name in pattern.operators:
        if not view.concerns(name, (*culprits, CATCH_ALL)):
            continue
        places = [(key, view.place(name, key)) for key in (*culprits, CATCH_ALL)]
        is_composite_first = CATCH_ALL not in view.own_keys(name)  # that of the base comes before all files
        is_order_known = is_composite_first or name not in view.linked_in_any_order
        stale = view.dispatcher.stale_slots(name).get(AUTOGRAD_OTHER) if is_order_known else None
        content = "" if stale is None else entry_text(stale.live)
        outcome = f"the slot is stale, and calls there still find {content}" if content else fails
        known = [(key, span) for key, span in places if span is not None]
        yield CHECK.finding(
            f"{name}: {AUTOGRAD_OTHER} is ambiguous between the kernel at {CATCH_ALL} and "
            f"{'that' if len(culprits) == 1 else 'those'} at {keys_text(culprits)}: {outcome}",
            name,
            AUTOGRAD_OTHER,
            span=known[0][1] if known else None,
            mark=known[0][0] if known else None,
            related=[(f"the kernel at {key} is registered here", span) for key, span in known[1:]],
            details=(("culprits", ", ".join(culprits)),),
            tip=f"register a kernel at {AUTOGRAD_OTHER}, or remove {'that' if len(culprits) == 1 else 'those'} "
            f"at {keys_text(culprits)}",
            fix=own_kernels(view, name, (AUTOGRAD_OTHER,)),
            severity=Severity.INFO if content and is_composite_first else None if failing else Severity.WARNING,
        )


CHECK = Check.of(find, __doc__, "DC201", Severity.ERROR)
