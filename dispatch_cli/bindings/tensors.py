"""Key sets of described tensors, and the keys that wrappers of tensors take over from what they wrap."""

from __future__ import annotations

from enum import IntEnum

from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.call import CallError, TensorSpec
from dispatch_cli.model.universe import Universe


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
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"a description of a tensor is needed, such as 'cpu sparse', not {tensor!r}")
        return TensorMaker(universe).make(spec).keyset
    except CallError as error:
        raise TypeError(f"{error.text!r}: {error.message}") from None
