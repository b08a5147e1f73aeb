"""From a device type to its dispatch key (``c10/core/Device.cpp``, ``c10::computeDispatchKey``)."""

from __future__ import annotations

import re

from dispatch_cli.bindings.errors import internal_assert
from dispatch_cli.model.universe import Universe

_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)
"""The device types that PyTorch's message names; a few of them have no dispatch key."""
_DEVICE = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)


def key_for_device(universe: Universe, device_type: str) -> str:
    """The runtime key of a device type such as ``cpu``. Errors: RuntimeError with PyTorch's text."""
    if not device_type:
        raise RuntimeError("Device string must not be empty")
    match = _DEVICE.fullmatch(device_type)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{device_type}'")
    name, index = match.groups()
    if name not in universe.devices and name not in _TYPES.split(", "):
        raise RuntimeError(f"Expected one of {_TYPES} device type at start of device string: {name}")
    if index is not None:
        raise RuntimeError(f"Expected device_type string to not have a device index; got {device_type}")
    if name not in universe.devices:
        raise internal_assert(
            "0",
            "c10/core/TensorOptions.h",
            f"This is a grandfathered Caffe2 device type {name}, it shouldn't ever convert to a DispatchKey.  "
            "File a bug describing what you were doing if you think this is in error.",
        )
    return universe.devices[name]
