"""The device argument of a call, by which kernels at BackendSelect choose where it goes on.

Sources: torchgen's ``ComputeBackendSelect``, ``_register_backend_select_dispatcher`` in torch/_library/custom_ops.py.
"""

from __future__ import annotations

from dispatch_cli.engine.call.step import Moment, Step, redispatches
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.trace import Why
from dispatch_cli.engine.keyset import DispatchKeySet
from dispatch_cli.model.call import CallError, device_type
from dispatch_cli.model.function_schema import FunctionSchema, SchemaType, TypeKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema_model import Argument


def device_argument(schema: FunctionSchema | None) -> Argument | None:
    """The argument of type ``Device`` or ``Device?``; the first of several."""
    return next((one for one in schema.arguments if _is_device(one.type)), None) if schema is not None else None


def check_device(maker: TensorMaker, name: OperatorName, schema: FunctionSchema | None, text: str) -> None:
    """Refuse a device that the universe does not have, or that the operator does not take. Errors: CallError."""
    maker.device_key(device_type(text), text)
    if device_argument(schema) is None:
        without = "has no schema, and so no known" if schema is None else "has no"
        raise CallError(f"{name} {without} argument of type Device", text)


def select_backend(moment: Moment, why: Why) -> Step:
    """On with the key of a strided tensor on the device that the argument names, and the keys of the tensors.

    Where it is not given, the argument's default counts, or else the universe's first device.
    """
    universe, keys = moment.maker.universe, moment.thread.keys
    device = moment.device or _default(moment)
    chosen = DispatchKeySet.of(universe, (moment.maker.device_key(device_type(device), device),))
    if moment.values:
        for value in moment.values:
            chosen |= value.keyset
        below = DispatchKeySet.full_after(universe, moment.slot)
        chosen = ((chosen | keys.included) - keys.excluded) & below
    return redispatches(chosen, why)._replace(device=device)


def _default(moment: Moment) -> str:
    """The device of a call that does not name one."""
    devices = moment.maker.universe.devices
    argument = device_argument(moment.schema)
    default = None if argument is None or argument.default is None else argument.default.value
    if isinstance(default, str) and device_type(default) in devices:
        return default
    return next(iter(devices))


def _is_device(kind: SchemaType) -> bool:
    return kind.kind is TypeKind.DEVICE or (kind.kind is TypeKind.OPTIONAL and _is_device(kind.contained[0]))
