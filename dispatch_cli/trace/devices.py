"""On which devices the tensors of a call are, and where its result goes."""

from __future__ import annotations

from dispatch_cli.engine.call.schema_facts import arguments_of
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.glob import glob_pattern
from dispatch_cli.model.schema.arguments import writes
from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.explained import Explained


class DeviceChange:
    """Calls whose device changes, as ``CPU->CUDA`` names them: from a tensor on the first to a result on the second."""

    def __init__(self, source: str, target: str) -> None:
        self._from, self._to = (glob_pattern(one.strip().lower()) for one in (source, target))

    @classmethod
    def parse(cls, text: str) -> DeviceChange | None:
        """Read ``CPU->CUDA``, ``cpu->*``; None for another text."""
        source, arrow, target = text.partition("->")
        return cls(source, target) if arrow and source.strip() and target.strip() else None

    def is_of(self, explained: Explained, dispatcher: Dispatcher) -> bool:
        """Whether a call is such a one."""
        target = result_device(explained, dispatcher)
        if target is None or self._to.match(target) is None:
            return False
        found = tensor_devices(explained, dispatcher.universe)
        return any(one != target and self._from.match(one) is not None for one in found if one is not None)


def tensor_devices(explained: Explained, universe: Universe) -> list[str | None]:
    """The device type of each tensor: as it is recorded, or else by its backend."""
    found = []
    for position, value in enumerate(explained.values):
        said = explained.devices[position] if position < len(explained.devices) else None
        found.append(_by_backend(value, universe) if said is None else said.partition(":")[0].lower())
    return found


def result_device(explained: Explained, dispatcher: Dispatcher) -> str | None:
    """The device type of what a call gives: of the tensor that it writes to, of its device argument, of its kernel."""
    if explained.call is None:
        return None
    definition = dispatcher.operator(explained.operator).definition
    schema = None if definition is None else definition.known_schema
    devices = tensor_devices(explained, dispatcher.universe)
    for argument, device in zip(arguments_of(schema, len(devices)), devices, strict=True):
        if argument is not None and writes(argument) and device is not None:
            return device
    if explained.call.options.device is not None:
        return explained.call.options.device.partition(":")[0].lower()
    return _of_keys(explained.hops[-1].keyset, dispatcher.universe) if explained.hops else None


def _by_backend(value: Value, universe: Universe) -> str | None:
    return None if value.is_absent else _of_keys(value.keyset, universe)


def _of_keys(keyset: DispatchKeySet, universe: Universe) -> str | None:
    """The device of the highest backend of a key set."""
    index = (keyset.bits & keyset.layout.backend_mask).bit_length() - 1
    if index < 0:
        return None
    backend = universe.backends[index]
    return next((name.lower() for name, key in universe.devices.items() if key == backend), backend.lower())
