"""Order sensitivity: whether some order of an operator's registrations leaves a slot of its live table stale.

The order of static initialisers is the order of linking, so every order can come about. What can be left at a slot
follows from which registrations recompute it.

**Which orders leave a slot stale.** Fix a slot. A registration *refreshes* it when PyTorch recomputes the slot at that
registration (`Universe.refreshed_by`; a catch-all registration refreshes every slot), and *concerns* it when the
decision at the slot looks at its key. In any order there is a last refresher, or none:

- None of the registrations refreshes the slot. Then it holds what it held when the operator came to be: the decision
  over no registrations.
- There is a last refresher. Behind it come registrations that do not refresh the slot, before it come all others that
  do, and any choice of the rest. The live entry is the decision over the last refresher and what is before it; the
  canonical entry is the decision over everything, which is the same for every order but for the newest kernel at a key.

Backend fallbacks drop out: a fallback refreshes its own slot, the only one that it concerns, so at the last refresh of
a slot its fallback stands, and no order of fallbacks does more than having them first.

A decision only looks at whether any key of certain sets has a kernel (`rules.Candidate`), so registrations of equal
*role* count as one, and few are left that differ for a slot: every order of these is tried. Whether two entries differ
is a question of their functions, as in PyTorch.

**Blocks.** The same holds when registrations come in blocks that keep their inner order: the last refresher is the last
one of its block, what follows it in the block comes after it, and blocks take the place of registrations above.

**The shortest order** for a slot is the fewest registrations (or blocks) that, alone and in their order, leave the slot
stale between the same two decisions as an order of all of them does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import decide
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry, entry_for
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED

if TYPE_CHECKING:
    from dispatch_cli.engine.slot_orders import Way


class SensitiveSlot(NamedTuple):
    """A slot that some order of the operator's registrations leaves stale.

    live: what it then holds. canonical: what the registrations determine.
    shortest: the fewest registrations that, in this order and alone, leave it stale between these two decisions, as an
    order of all registrations does.
    """

    live: TableEntry
    canonical: TableEntry
    shortest: tuple[Registration, ...]


class Orders:
    """Answers about orders, for operators of a dispatcher in its present state."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def sensitive_slots(
        self, name: OperatorName, blocks: Sequence[Sequence[Registration]] | None = None
    ) -> tuple[SensitiveSlot, ...]:
        """The slots that some order leaves stale, in table order. Errors: Refused for an unknown operator.

        blocks: all of the operator's registrations in the blocks that keep their inner order, oldest first; None for
        any order. Undefined is skipped, as in PyTorch's own check, and so is a slot for which too many registrations
        differ (`slot_orders.MOST_BLOCKS`). PyTorch's kernels whose functions are not known count as different ones.
        """
        layout, registered = self._dispatcher.layout, self._dispatcher.shape(name)[0]
        slots = slots_at_risk(layout, registered)
        if not slots:
            return ()
        from dispatch_cli.engine.slot_orders import SlotOrders

        if blocks is None:
            blocks = [(registration,) for registration in self._registrations(name)]
        fallbacks, closed = self._dispatcher.fallbacks, registered & layout.closed
        ways = ((key, SlotOrders(layout, key, blocks, fallbacks.get(key), closed).shortest()) for key in slots)
        return tuple(self._slot(key, way, closed) for key, way in ways if way is not None)

    def _registrations(self, name: OperatorName) -> list[Registration]:
        """Oldest first at each key; the keys in the order of the enum."""
        dispatcher = self._dispatcher
        if dispatcher.is_untouched(name) and not dispatcher.header(name).overridden:
            active = dispatcher.active(name)
            return [active[key] for key in sorted(active, key=dispatcher.universe.ids.__getitem__)]
        kernels = dispatcher.operator(name).kernels
        ordered = sorted(kernels, key=dispatcher.universe.ids.__getitem__)
        return [registration for key in ordered for registration in reversed(kernels[key])]

    def _slot(self, key: str, way: Way, closed: int) -> SensitiveSlot:
        live, canonical = (self._entry(key, part, closed) for part in (way.order[: way.refreshed], way.order))
        return SensitiveSlot(live, canonical, way.order)

    def _entry(self, key: str, registered: Sequence[Registration], closed: int) -> TableEntry:
        """Content of a slot that is computed when these are registered."""
        layout, fallbacks = self._dispatcher.layout, self._dispatcher.fallbacks
        active, bits = {registration.key: registration for registration in registered}, closed
        for source in active:
            bits |= layout.registered_bit[source]
        decision = decide(layout.candidates[layout.universe.slot[key]], bits, key in fallbacks)
        return entry_for(key, decision, active, fallbacks)


@lru_cache(maxsize=8192)
def slots_at_risk(layout: KeyLayout, registered: int) -> tuple[str, ...]:
    """The slots, without Undefined, that registrations at these keys can leave stale, in table order.

    registered: bits of the keys. Few slots: a registration that does not refresh a slot matters there only when it can
    fill the slot, or when it takes the slot away from an alias that has a kernel; and a kernel of the slot's own, which
    refreshes it, settles it. Only an operator with such slots can be order-sensitive.
    """
    slots = {
        risk.slot
        for bit, risks in _risks(layout).items()
        if registered & bit
        for risk in risks
        if registered & risk.matters and not registered & risk.settles
    }
    return tuple(sorted(slots, key=layout.universe.slot.__getitem__))


class _Risk(NamedTuple):
    """A slot that a registration does not refresh.

    matters: bits of the keys of which one must have a kernel for the registration to matter there.
    settles: the bit of the slot's own key.
    """

    slot: str
    matters: int
    settles: int


@lru_cache(maxsize=16)
def _risks(layout: KeyLayout) -> Mapping[int, tuple[_Risk, ...]]:
    """Per key, by its bit, the slots that a registration at it can leave behind."""
    risks_of = {}
    for key, bit in layout.registered_bit.items():
        risks = []
        for slot in layout.left_behind(key, fallback=False):
            own, *others = layout.candidates[layout.universe.slot[slot]]
            matters = 0
            for candidate in (own, *others):
                if bit & candidate.bits:
                    matters |= candidate.bit
            settles = own.bit if slot in layout.universe.refreshed_by(slot) else 0
            if slot != UNDEFINED:
                risks.append(_Risk(slot, matters, settles))
        if risks:
            risks_of[bit] = tuple(risks)
    return risks_of
