"""On which devices the tensors of a call are, and where its result goes."""

from __future__ import annotations

from dispatch_cli.engine.call.schema_facts import arguments_of
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.glob import glob_pattern
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import writes
from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.explained import Explained

_COPIES = "non_blocking"
"""The argument that operators have which copy from one device to another."""
_TENSOR = "Tensor"


class DeviceChange:
    """Calls whose device changes, as ``CPU->CUDA`` names them: from a tensor on the first to a result on the second."""

    def __init__(self, source: str, target: str) -> None:
        self.names = source.strip().lower(), target.strip().lower()
        self._from, self._to = map(glob_pattern, self.names)

    @classmethod
    def parse(cls, text: str) -> DeviceChange | None:
        """Read ``CPU->CUDA``, ``cpu->*``; None for another text."""
        source, arrow, target = text.partition("->")
        return cls(source, target) if arrow and source.strip() and target.strip() else None

    @property
    def is_none(self) -> bool:
        """True if both devices are the same one: no call is such a one."""
        return self.names[0] == self.names[1] and not any(letter in self.names[0] for letter in "*?[")

    def is_of(self, explained: Explained) -> bool:
        """True if a call changes the device in this way.

        A call with a tensor on the device of its result computes there; others may be numbers, which stay on the CPU.
        So does one that writes to a tensor, unless it copies into it.
        """
        target = result_device(explained)
        if target is None or self._to.match(target) is None:
            return False
        devices = tensor_devices(explained)
        schema = schema_of(explained)
        if schema is not None and any(argument.name == _COPIES for argument in schema.arguments):
            arguments = arguments_of(schema, len(devices))
            devices = [device for device, of in zip(devices, arguments, strict=True) if of is None or not writes(of)]
        sources = {*devices} - {None}
        return target not in sources and any(self._from.match(name) is not None for name in sources if name is not None)


def tensor_devices(explained: Explained) -> list[str | None]:
    """The device type of each tensor: as it is recorded, or else by its backend."""
    devices, universe = [], explained.state.dispatcher.universe
    for position, value in enumerate(explained.values):
        recorded = explained.devices[position] if position < len(explained.devices) else None
        devices.append(_by_backend(value, universe) if recorded is None else recorded.partition(":")[0].lower())
    return devices


def result_device(explained: Explained) -> str | None:
    """The device type of what a call gives: of the tensor that it writes to, of its device argument, of its kernel.

    None where it gives no tensor.
    """
    if explained.call is None:
        return None
    schema = schema_of(explained)
    devices = tensor_devices(explained)
    for argument, device in zip(arguments_of(schema, len(devices)), devices, strict=True):
        if argument is not None and writes(argument) and device is not None:
            return device
    if schema is not None and not any(_TENSOR in str(result.type) for result in schema.returns):
        return None
    if explained.call.options.device is not None:
        return explained.call.options.device.partition(":")[0].lower()
    universe = explained.state.dispatcher.universe
    return _of_keys(explained.hops[-1].keyset, universe) if explained.hops else None


def schema_of(explained: Explained) -> FunctionSchema | None:
    """The schema of the operator; None where it is not known."""
    definition = explained.state.dispatcher.operator(explained.operator).definition
    return None if definition is None else definition.known_schema


def _by_backend(value: Value, universe: Universe) -> str | None:
    return None if value.is_absent else _of_keys(value.keyset, universe)


def _of_keys(keyset: DispatchKeySet, universe: Universe) -> str | None:
    """The device of the highest backend of a key set."""
    index = (keyset.bits & keyset.layout.backend_mask).bit_length() - 1
    if index < 0:
        return None
    backend = universe.backends[index]
    return next((name.lower() for name, key in universe.devices.items() if key == backend), backend.lower())
