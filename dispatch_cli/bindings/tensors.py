"""Key sets of described tensors, and the keys that wrappers of tensors take over from what they wrap."""

from __future__ import annotations

from enum import IntEnum

from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.call import CallError, TensorSpec
from dispatch_cli.model.universe import FUNCTIONALIZE, META, PYTHON, Universe

_SUBCLASS_LIKE = ("FuncTorchGradWrapper", "FuncTorchBatched", FUNCTIONALIZE, "Batched", "Sparse", "SparseCsr", PYTHON)
"""``at::kTensorSubclassLike``, but for the bit of Meta."""


class TorchDispatchModeKey(IntEnum):
    """``_TorchDispatchModeKey``: the modes that have a place of their own in the stack."""

    FAKE = 0
    PROXY = 1
    FUNCTIONAL = 2

    def __str__(self) -> str:
        return f"_TorchDispatchModeKey.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


def keys_of_tensor(universe: Universe, tensor: TensorSpec | str) -> KeyBits:
    """The key set of a described tensor. Errors: TypeError."""
    try:
        spec = TensorSpec.parse(tensor) if isinstance(tensor, str) else tensor
        maker = TensorMaker(universe)
        value = maker.make(spec)
        for wrapper in spec.wrappers:
            value = maker.wrap(value, wrapper)
        return value.keyset
    except CallError as error:
        raise TypeError(f"{error.text!r}: {error.message}") from None


def is_subclass_like(keyset: KeyBits) -> bool:
    """True if a tensor with these keys is like one of a subclass (``at::isTensorSubclassLike``), outside of modes."""
    layout = keyset.layout
    bits = layout.key_bits[META] & layout.backend_mask
    for key in _SUBCLASS_LIKE:
        bits |= layout.key_bits.get(key, 0)
    return bool(keyset.bits & bits)
