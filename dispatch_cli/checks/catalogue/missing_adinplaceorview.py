"""Writes and views are recorded at ADInplaceOrView.

The version counter of a tensor tells autograd that a saved tensor has been changed. The link of a view to its base
carries a later write to one over to the gradient of the other. Kernels at ADInplaceOrView maintain both
(pytorch/pytorch#53342). For PyTorch's own operators torchgen generates these kernels
(`torch/csrc/autograd/generated/ADInplaceOrViewType_*.cpp`); for all others the key falls through. An operator with an
autograd kernel written by hand needs one as well, as PyTorch's guide to registering operators in C++ says ("In-place or
view ops"). Without it, gradients can be silently wrong.

An autograd kernel that is a `torch.autograd.Function` with `mark_dirty` counts the write itself, but only where it
runs: calls below autograd still go uncounted. An autograd kernel that is declared to call other operators
(`redispatches: other-operators`), or to raise, leaves nothing to count. Where there is a kernel at
CompositeImplicitAutograd, or only one at CompositeExplicitAutograd, the autograd kernel may call other operators, which
do it; that is an info, and is not reported for operators of a captured state.

Bad, because nothing counts the write:

```yaml
dispatch: 1
operators:
  - func: demo::relu_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CPU: relu_cpu, Autograd: relu_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::relu_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CPU: relu_cpu, Autograd: relu_autograd, ADInplaceOrView: inplace_or_view_fallback}
```

Fix: register `torch::autograd::autogradNotImplementedInplaceOrViewFallback()` at ADInplaceOrView, or a kernel that
calls `increment_version` or `as_view`; or define the operator with `torch.library.custom_op`, which registers such a
kernel; or give the operator a functional schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.checks.check import Check, Finding, MissingPart, Need, Severity
from dispatch_cli.checks.finding_parts import own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, META, backend_keys

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import AliasInfo

GENERATED = ("torch/csrc/autograd/generated/", "VariableType::")
"""Parts of the names of autograd kernels that torchgen generates, together with what ADInplaceOrView needs."""
ELSEWHERE = frozenset({RedispatchKind.OTHER_OPERATORS, RedispatchKind.RAISES})
"""Declared redispatches of kernels that write nothing themselves, nor have it written below."""
TIP = "register torch::autograd::autogradNotImplementedInplaceOrViewFallback() at ADInplaceOrView"


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator that a file gives an autograd kernel, and nothing that handles writes or views."""
    if AD_INPLACE_OR_VIEW not in view.universe.slot:
        return
    touched = frozenset(view.touched)
    for pattern in view.patterns:
        keys = view.autograd_kernels(pattern)
        if keys and _is_unhandled(view, pattern):
            for name in filter(touched.__contains__, pattern.operators):
                yield from _of_operator(view, pattern, name, keys)


def _is_unhandled(view: View, pattern: Pattern) -> bool:
    rule = pattern.rule(AD_INPLACE_OR_VIEW)
    return rule is Rule.MISSING or pattern.falls_through(AD_INPLACE_OR_VIEW, view.dispatcher.fallbacks)


def _of_operator(view: View, pattern: Pattern, name: OperatorName, keys: list[str]) -> Iterator[Finding]:
    active = view.active(name)
    by_hand = next((active[key] for key in keys if _is_by_hand(view, active[key])), None)
    if by_hand is None or "(" not in (view.schema_text(name) or "").partition("(")[2]:
        return
    what = _what_it_does(view, name)
    if what is None:
        return
    composite = "CompositeImplicitAutograd" in active or not any(
        pattern.rule(key) is Rule.KERNEL and key != META for key in backend_keys(view.universe)
    )
    if composite and not view.is_written(by_hand):
        return
    place = view.defined_at(name)
    yield CHECK.finding(
        f"{name} {what} and has a hand-written autograd kernel ({by_hand.kernel.debug} at {by_hand.key}), but no "
        f"kernel at {AD_INPLACE_OR_VIEW} {_lost(what)}",
        name,
        AD_INPLACE_OR_VIEW,
        at=by_hand,
        related=(("the schema is here", place),),
        tip=TIP,
        fix=own_kernels(view, name, (AD_INPLACE_OR_VIEW,)),
        severity=Severity.INFO if composite else None,
    )


def _is_by_hand(view: View, registration: Registration) -> bool:
    """True if the kernel is written by hand, so that writes and views are left to it."""
    kernel = registration.kernel
    if kernel.redispatches is not None and kernel.redispatches.kind in ELSEWHERE:
        return False
    is_generated = any(part in kernel.debug for part in GENERATED)
    return view.registrant(registration) is not Registrant.PYTORCH and not is_generated


WRITES = "writes to"
VIEWS = "returns a view of"


def _what_it_does(view: View, name: OperatorName) -> str | None:
    schema = view.schema(name)
    if schema is None:
        return None
    written = [argument.name for argument in schema.arguments if argument.alias is not None and argument.alias.write]
    if written:
        return f"{WRITES} {', '.join(written)}"
    returned = frozenset(label for result in schema.returns for label in _labels(result.alias))
    viewed = [argument.name for argument in schema.arguments if not returned.isdisjoint(_labels(argument.alias))]
    return f"{VIEWS} {', '.join(viewed)}" if viewed else None


def _labels(alias: AliasInfo | None) -> Iterator[str]:
    """The alias sets that an annotation names, those of the elements of a list among them."""
    if alias is not None:
        yield from alias.before
        yield from alias.after
        for inner in alias.contained:
            yield from _labels(inner)


def _lost(what: str) -> str:
    if what.startswith(WRITES):
        return "counts the write: autograd does not notice that a saved tensor has changed"
    return "marks the view: autograd does not connect it with its base"


CHECK = Check.of(find, __doc__, "DC206", Severity.WARNING, needs=(Need.FILES,), lacks=MissingPart.KERNEL)
