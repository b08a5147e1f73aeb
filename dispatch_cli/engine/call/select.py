"""Selection of a slot: from arguments and thread state to a key set and its highest key.

Sources: ``ATen/core/dispatch/DispatchKeyExtractor.h`` and ``.cpp``, ``c10/core/DispatchKeySet.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import LocalKeys
from dispatch_cli.engine.call.trace import Mask, MaskKind, Selection, TensorArgument
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.model.universe import UNDEFINED, Universe


@lru_cache(maxsize=4096)
def slot_of(keyset: DispatchKeySet) -> str:
    """The table slot that a set selects.

    A per-backend functionality without any backend bit selects the first backend's slot, as PyTorch's arithmetic does
    (``getDispatchTableIndexForDispatchKeySet``).
    """
    highest = keyset.highest_priority()
    universe = keyset.layout.universe
    if highest in universe.slot and highest != UNDEFINED:
        return highest
    functionality = highest_functionality(keyset)
    return UNDEFINED if functionality is None else universe.per_backend[functionality][0]


def highest_functionality(keyset: DispatchKeySet) -> str | None:
    """The highest functionality of a set; None when it has none."""
    universe = keyset.layout.universe
    index = (keyset.bits >> len(universe.backends)).bit_length() - 1
    return universe.functionalities[index] if index >= 0 else None


class SlotSelector:
    """Selects slots of one operator. masks: for each backend component, or the same for all."""

    def __init__(self, universe: Universe, masks: Sequence[DispatchKeySet]) -> None:
        self.universe = universe
        self._layout = DispatchKeySet.of(universe).layout
        self._masks = masks
        self._is_common = len({mask.bits for mask in self._masks}) == 1

    @classmethod
    def of(cls, universe: Universe, operator: Operator) -> SlotSelector:
        """The selector of an operator, whose live table is read once."""
        return cls(universe, _all_masks(DispatchKeySet.of(universe).layout, operator.live.fallthroughs()))

    def select(self, values: tuple[Value, ...], keys: LocalKeys, generator: DispatchKeySet | None = None) -> Selection:
        """The selection of a call with those arguments, on a thread with those keys.

        generator: the keys of a generator, in an unboxed call; in a boxed one they do not count.
        """
        keyset = generator or DispatchKeySet(self._layout)
        for value in values:
            keyset |= value.keyset
        unmasked = (keyset | keys.included) - keys.excluded
        deciding = keyset if self.universe.mask_by_arguments else unmasked
        mask = self._mask(deciding)
        result = unmasked & mask.keyset
        return Selection(
            arguments=tuple(TensorArgument(value.text, value.keyset) for value in values),
            keyset=keyset,
            included=keys.included,
            excluded=keys.excluded,
            unmasked=unmasked,
            mask=mask,
            skipped=_skipped(unmasked, result),
            result=result,
            generator=generator,
        )

    def given(self, values: tuple[Value, ...], keyset: DispatchKeySet, keys: LocalKeys) -> Selection:
        """The selection of a call with a key set of the caller's choice: neither thread state nor mask count."""
        mask = Mask(MaskKind.NONE, None, DispatchKeySet.full(self.universe))
        arguments = tuple(TensorArgument(value.text, value.keyset) for value in values)
        return Selection(arguments, keyset, keys.included, keys.excluded, keyset, mask, (), keyset)

    def _mask(self, deciding: DispatchKeySet) -> Mask:
        if self._is_common:
            return Mask(MaskKind.COMMON, None, self._masks[0])
        index = (deciding.bits & self._layout.backend_mask).bit_length() - 1
        if index < 0:
            return Mask(MaskKind.FIRST_BACKEND, self.universe.backends[0], self._masks[0])
        return Mask(MaskKind.BACKEND, self.universe.backends[index], self._masks[index])


@lru_cache(maxsize=4096)
def _all_masks(layout: KeyLayout, fallthroughs: int) -> tuple[DispatchKeySet, ...]:
    """One mask per backend component: every functionality whose slot there is not among the fallthroughs."""
    universe, bits = layout.universe, layout.key_bits
    common = DispatchKeySet.full(universe).bits
    own = [0] * len(universe.backends)
    for functionality in universe.functionalities:
        keys = universe.per_backend.get(functionality)
        if keys is None:
            if fallthroughs >> universe.slot[functionality] & 1:
                common &= ~bits[functionality]
            continue
        for index, key in enumerate(keys):
            if fallthroughs >> universe.slot[key] & 1:
                own[index] |= bits[functionality]
    return tuple(DispatchKeySet(layout, common & ~removed) for removed in own)


@lru_cache(maxsize=4096)
def _skipped(unmasked: DispatchKeySet, result: DispatchKeySet) -> tuple[str, ...]:
    """The slots of what the mask took away from above the selected slot and below it, highest first."""
    slots = []
    rest = unmasked
    while (functionality := highest_functionality(rest)) is not None:
        if not result.has(functionality):
            slots.append(slot_of(rest))
        rest = rest.remove(functionality)
    return tuple(slots)
