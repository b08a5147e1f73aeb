"""No order of the registrations leaves a slot of the live table stale.

At each registration PyTorch recomputes only the slots that it expects the registration to change, and it can miss one
(`OperatorEntry::updateDispatchTable_` in `aten/src/ATen/core/dispatch/OperatorEntry.cpp`). Whether it does depends on
the order of static initialisers: the order in which object files and libraries are linked and loaded. Nothing specifies
that order, and any build may change it. The present order may leave no slot stale, and another order may make calls run
the wrong kernel. If the present order already leaves a slot stale, `stale-live-table` reports it, and this check does
not.

The registrations of one library block keep their order. PyTorch's own libraries are loaded before the libraries that
are linked against them. A finding that needs an order against one of these two rules is an info, and so is every
finding about a captured state, whose order is PyTorch's own, or about a slot that should hold the ambiguity error, of
which `ambiguous-autogradother` reports the cause.

Bad, because in the order op_math, op_autograd, op_nested the slot AutogradNestedTensor keeps op_math:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {NestedTensorCPU: op_nested, CompositeImplicitAutograd: op_math, Autograd: op_autograd}
```

Good, because a kernel at a runtime key refreshes its own slot, in any order:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {NestedTensorCPU: op_nested, CompositeImplicitAutograd: op_math, AutogradNestedTensor: op_autograd}
```

Fix: register a kernel at the slot's own key, or remove one of the registrations in question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.finding_parts import MAX_NAMED, entry_text, keys_text, own_kernels
from dispatch_cli.checks.view import View
from dispatch_cli.engine.order import Orders, SensitiveSlot, slots_at_risk
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.declarations import Block
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator and order, the shortest for each slot."""
    orders = Orders(view.dispatcher)
    for pattern in view.patterns:
        if slots_at_risk(view.layout, pattern.registered):
            for name in pattern.operators:
                if name in view.linked_in_any_order or not view.dispatcher.stale_entries(name):
                    yield from _of_operator(view, orders, name)


def _of_operator(view: View, orders: Orders, name: OperatorName) -> Iterator[Finding]:
    sensitive: tuple[SensitiveSlot, ...] = ()
    within_blocks = False
    if not view.dispatcher.is_untouched(name):
        sensitive = orders.sensitive_slots(name, _blocks(view, name))
        within_blocks = bool(sensitive)
    groups: dict[tuple[object, ...], list[SensitiveSlot]] = {}
    for slot in sensitive or orders.sensitive_slots(name):
        # what one registration does by itself, in every order, is not a matter of their order
        if len(slot.shortest) > 1 and view.concerns(name, [registration.key for registration in slot.shortest]):
            groups.setdefault((*map(id, slot.shortest), entry_text(slot.live)), []).append(slot)
    for slots in groups.values():
        yield _finding(view, name, slots, within_blocks and _is_plausible(view, slots[0].shortest))


def _blocks(view: View, name: OperatorName) -> list[list[Registration]]:
    """The operator's registrations, what is captured first: those of a written block keep their order, any other is by
    itself.
    """
    left = {(id(entry.kernel), entry.key): entry for stack in view.kernels(name).values() for entry in reversed(stack)}
    blocks: list[list[Registration]] = []
    written: dict[Block, list[Registration]] = {}
    for step in view.implementations.get(name, ()):
        key = step.dispatch_key or step.block.dispatch_key
        registration = left.pop((id(step.kernel), CATCH_ALL if key is None or key == UNDEFINED else key), None)
        if registration is None:
            continue
        if step.block in written:
            written[step.block].append(registration)
            continue
        blocks.append([registration])
        if not step.block.implicit and not view.is_captured(registration):
            written[step.block] = blocks[-1]
    return [*([registration] for registration in left.values()), *blocks]


def _is_plausible(view: View, order: Sequence[Registration]) -> bool:
    """True if an order can come about: some of it is not captured, and none of that is before what is."""
    captured = [view.is_captured(registration) for registration in order]
    return not all(captured) and captured == sorted(captured, reverse=True)


def _finding(view: View, name: OperatorName, slots: Sequence[SensitiveSlot], plausible: bool) -> Finding:
    order, first = slots[0].shortest, slots[0]
    keys, verb = keys_text([slot.canonical.key for slot in slots]), "keeps" if len(slots) == 1 else "keep"
    right = " or ".join(dict.fromkeys(_holder(slot.canonical) for slot in slots))
    last = order[-1]
    is_ambiguous = all(slot.canonical.rule is Rule.AMBIGUOUS for slot in slots)
    return CHECK.finding(
        f"{name}: in the registration order {' → '.join(registration.key for registration in order)}, {keys} {verb} "
        f"{_holder(first.live)}, but should hold {right}",
        name,
        first.canonical.key,
        at=last,
        related=[(f"registered before, at {entry.key}", entry.kernel.span) for entry in order[:-1]],
        details=(
            ("order", ", then ".join(f"{registration.kernel.debug} at {registration.key}" for registration in order)),
            ("live", entry_text(first.live)),
            ("canonical", "; ".join(dict.fromkeys(entry_text(slot.canonical) for slot in slots))),
        ),
        tip=f"register a kernel at {keys}" if len(slots) <= MAX_NAMED else "remove one of these registrations",
        subject=" ".join(registration.key for registration in order),
        fix=own_kernels(view, name, [slot.canonical.key for slot in slots]),
        severity=None if plausible and not is_ambiguous else Severity.INFO,
        slots=[(name, slot.canonical.key) for slot in slots],
    )


def _holder(entry: TableEntry) -> str:
    """Content of a slot, for a sentence."""
    if entry.decision.source is not None:
        return f"the kernel at {entry.decision.source}"
    return {Rule.AMBIGUOUS: "the ambiguity error", Rule.FALLBACK: "the backend fallback"}.get(entry.rule, "nothing")


CHECK = Check.of(find, __doc__, "DC005", Severity.WARNING)
