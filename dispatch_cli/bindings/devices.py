"""Dispatch keys of device types (``c10/core/Device.cpp``, ``c10::computeDispatchKey``)."""

from __future__ import annotations

from dispatch_cli.bindings.errors import internal_assert
from dispatch_cli.model.schema.defaults import DEVICE, DEVICE_TYPES
from dispatch_cli.model.universe import Universe


def key_for_device(universe: Universe, device_type: str) -> str:
    """The runtime key of a device type such as ``cpu``. Errors: RuntimeError with PyTorch's text."""
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
