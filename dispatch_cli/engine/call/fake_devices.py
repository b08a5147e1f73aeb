"""Fake tensors of different devices in one call.

Source: ``FakeTensor._find_common_device`` in ``torch/_subclasses/fake_tensor.py``. The mode asks it when it makes fake
tensors of a result at Meta. CPU tensors without dimensions may be beside tensors of any device; here all tensors are
taken to have dimensions, since nothing says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.call import fake_errors
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import Error
from dispatch_cli.model.fake_tensor import FakeRules
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import is_tensor, is_tensor_list
from dispatch_cli.model.universe import Universe

CPU, META = "cpu", "meta"


class Mismatch(NamedTuple):
    """The error of a call with fake tensors of different devices.

    zero_dim_works: there is none where the CPU tensors have no dimensions.
    """

    error: Error
    zero_dim_works: bool


def mismatch(
    universe: Universe, rules: FakeRules, name: OperatorName, schema: FunctionSchema, values: Sequence[Value]
) -> Mismatch | None:
    """The error of a call at Meta; None where there is none, or where this PyTorch's is not known."""
    if not returns_tensors(schema):
        return None
    return _mismatch(universe, rules, name, [device for value in values if (device := _device(universe, value))])


def differ(universe: Universe, values: Sequence[Value]) -> bool:
    """True if there are fake tensors of different devices, and none of the device ``meta``."""
    devices = {device for value in values if (device := _device(universe, value))}
    return len(devices) > 1 and META not in map(_type, devices)


def foreach_mismatch(
    universe: Universe, rules: FakeRules, name: OperatorName, schema: FunctionSchema, values: Sequence[Value]
) -> Mismatch | None:
    """The same of an operator on lists of one length, of which the tensors at one place have to be on one device.

    None where the tensors do not divide into such lists.
    """
    if not returns_tensors(schema):
        return None
    taking = [argument for argument in schema.arguments if is_tensor(argument.type) or is_tensor_list(argument.type)]
    lists = sum(is_tensor_list(argument.type) for argument in taking)
    length, rest = divmod(len(values) - (len(taking) - lists), lists) if lists else (0, 1)
    if rest or length < 1:
        return None
    places: list[list[str]] = [[] for _ in range(length)]
    waiting = iter(values)
    for argument in taking:
        own = [_device(universe, next(waiting)) for _ in range(length if is_tensor_list(argument.type) else 1)]
        if is_tensor_list(argument.type):
            for place, device in zip(places, own, strict=True):
                place += [device] if device else []
    return next(
        (mismatch for place in places if (mismatch := _mismatch(universe, rules, name, place)) is not None), None
    )


def returns_tensors(schema: FunctionSchema) -> bool:
    """True if there is a tensor among the results."""
    return any(is_tensor(result.type) or is_tensor_list(result.type) for result in schema.returns)


def _mismatch(universe: Universe, rules: FakeRules, name: OperatorName, devices: Sequence[str]) -> Mismatch | None:
    common = devices[0] if devices else ""
    other = next(
        (other for other in devices if other != common and rules.mixes not in {_type(other), _type(common)}), None
    )
    if other is None or universe.fake_device_error is None:
        return None
    error = fake_errors.two_devices(universe.fake_device_error, name, common, other)
    elsewhere = {device for device in devices if _type(device) != CPU}
    return Mismatch(error, len(elsewhere) <= 1 and not rules.zero_dim_counts and _type(CPU) in map(_type, devices))


def _type(device: str) -> str:
    return device.partition(":")[0]


def _device(universe: Universe, value: Value) -> str | None:
    """The device of a fake tensor as PyTorch writes it; None of another tensor."""
    spec = value.spec
    if spec is None or spec.fake is None or value.wrapper is not None or value.is_absent:
        return None
    device = spec.device or next(iter(universe.devices))
    number = 0 if spec.number is None and device in universe.fake_numbered else spec.number
    return device if number is None else f"{device}:{number}"
