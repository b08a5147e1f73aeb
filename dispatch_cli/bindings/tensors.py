"""Key sets of described tensors, and the dispatch keys of device types."""

from __future__ import annotations

from enum import IntEnum

from dispatch_cli.bindings.errors import internal_assert
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.call import CallError, TensorSpec
from dispatch_cli.model.schema.defaults import DEVICE, DEVICE_TYPES
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


def key_for_device(universe: Universe, device_type: str) -> str:
    """The runtime key of a device type such as ``cpu`` (``c10::computeDispatchKey``). Errors: RuntimeError."""
    if device_type in universe.devices:
        return universe.devices[device_type]
    match = DEVICE.fullmatch(device_type)
    if match is None:
        words = f"Invalid device string: '{device_type}'" if device_type else "Device string must not be empty"
        raise RuntimeError(words)
    if match[1] not in DEVICE_TYPES:
        types = ", ".join(DEVICE_TYPES)
        raise RuntimeError(f"Expected one of {types} device type at start of device string: {match[1]}")
    if match[2] is not None:
        raise RuntimeError(f"Expected device_type string to not have a device index; got {device_type}")
    raise internal_assert(
        "0",
        "c10/core/TensorOptions.h",
        f"This is a grandfathered Caffe2 device type {device_type}, it shouldn't ever convert to a DispatchKey.  "
        "File a bug describing what you were doing if you think this is in error.",
    )
