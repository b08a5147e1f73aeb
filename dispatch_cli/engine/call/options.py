"""The options of a factory, by which kernels at BackendSelect choose the key of a call.

Sources: torchgen's ``ComputeBackendSelect``, ``computeDispatchKey`` in ``c10/core/TensorOptions.h``,
``_register_backend_select_dispatcher`` in torch/_library/custom_ops.py.
"""

from __future__ import annotations

from dispatch_cli.engine.call.errors import RUNTIME, no_such_layout
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.step import KernelStep, Moment, raises, redispatches
from dispatch_cli.engine.call.tensors import META, TensorMaker
from dispatch_cli.engine.call.trace import ChosenBy, Error, ErrorKind, Option, OptionOrigin, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import CallError, Layout, device_type
from dispatch_cli.model.calls.options import DEFAULT as DEFAULT_DTYPE
from dispatch_cli.model.calls.options import (
    LAYOUT_NUMBERS,
    QUANTIZED,
    Options,
    dtype_named,
    generator_named,
    layout_named,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import Argument, FunctionSchema
from dispatch_cli.model.schema.types import DTYPES, SchemaType, TypeKind

_TYPES = {
    "device": ("Device", TypeKind.DEVICE),
    "layout": ("Layout", TypeKind.LAYOUT),
    "dtype": ("ScalarType", TypeKind.SCALAR_TYPE),
    "generator": ("Generator", TypeKind.GENERATOR),
}


def option_argument(schema: FunctionSchema | None, option: str) -> Argument | None:
    """The argument of the option's type: the one of its name, or else the first of several."""
    kind = _TYPES[option][1]
    choices = [argument for argument in schema.arguments if _is(argument.real_type, kind)] if schema is not None else []
    return next((argument for argument in choices if argument.name == option), choices[0] if choices else None)


def is_factory(schema: FunctionSchema | None) -> bool:
    """True if the operator takes an option that says where its result is to be."""
    return option_argument(schema, "device") is not None or option_argument(schema, "layout") is not None


def check_option(maker: TensorMaker, option: str, text: str) -> None:
    """Refuse an option that the universe does not have. Errors: CallError."""
    if option == "device":
        maker.device_key(device_type(text), text)
    elif option == "generator":
        maker.generator(generator_named(text)[0])
    elif option == "layout":
        layout_named(text)
    else:
        dtype_named(text)


def check_options(maker: TensorMaker, name: OperatorName, schema: FunctionSchema | None, options: Options) -> None:
    """Refuse what the universe does not have, and what the operator does not take. Errors: CallError."""
    for option, text in options.given:
        check_option(maker, option, text)
        if option_argument(schema, option) is None:
            without = "has no schema, and so no known" if schema is None else "has no"
            raise CallError(f"{name} {without} argument of type {_TYPES[option][0]}", text)


def select_backend(moment: Moment, why: Why) -> KernelStep:
    """On with the key of a tensor with these options, and the keys of the tensors.

    Where an option is not given, the default of its argument counts, or else PyTorch's.
    """
    maker, keys = moment.maker, moment.thread.keys
    by = _chosen_by(moment)
    device = device_type(by.device.value)
    layout = Layout.STRIDED if by.layout is None else layout_named(by.layout.value)
    quantized = by.dtype is not None and by.dtype.value in QUANTIZED
    key = maker.computed_key(device, layout, quantized, by.device.value)
    if key is None:
        return raises(no_such_layout(layout, device), why)._replace(chosen_by=by)
    chosen = DispatchKeySet.of(maker.universe, (key,))
    if moment.schema is not None and most_tensors(moment.schema) != 0:
        for value in moment.values:
            chosen |= value.keyset
        below = DispatchKeySet.full_after(maker.universe, moment.slot)
        chosen = ((chosen | keys.included) - keys.excluded) & below
    return redispatches(chosen, why)._replace(chosen_by=by)


def select_registered_device(moment: Moment) -> KernelStep:
    """On with the device's key alone, where ``torch.library.custom_op`` was given a kernel for that device.

    One kernel at Meta does not count: it is the fake one, which every such operator has. The device is looked for
    among the positional arguments alone.
    """
    argument = option_argument(moment.schema, "device")
    if argument is not None and argument.kwarg_only:
        return raises(Error(ErrorKind.UNSUPPORTED, "IndexError", "tuple index out of range"), Why.CORE_KERNEL)
    device = _option(moment, "device") or _assumed_device(moment)
    by, kind = ChosenBy(device), device_type(device.value)
    key = moment.maker.device_key(kind, device.value)
    kernels = moment.operator.kernels.get(key, ())
    if len(kernels) <= (kind == META):
        name = moment.name.name.partition("::")[2]
        text = f"{name} does not have a kernel registered for {kind}. Please use register_kernel to do so."
        error = Error(ErrorKind.NO_KERNEL, RUNTIME, text)
        return raises(error, Why.CORE_KERNEL)._replace(chosen_by=by)
    chosen = DispatchKeySet.of(moment.maker.universe, (key,))
    return redispatches(chosen, Why.CORE_KERNEL)._replace(chosen_by=by)


def _chosen_by(moment: Moment) -> ChosenBy:
    """The options of the call, as far as the operator takes them."""
    given = {option: _option(moment, option) for option in ("device", "layout", "dtype")}
    device, layout, dtype = given.values()
    if layout is None and option_argument(moment.schema, "layout") is not None:
        layout = Option(Layout.STRIDED.value, OptionOrigin.ASSUMED)
    if dtype is None and option_argument(moment.schema, "dtype") is not None:
        dtype = Option(DEFAULT_DTYPE, OptionOrigin.ASSUMED)
    return ChosenBy(device or _assumed_device(moment), layout, dtype)


def _assumed_device(moment: Moment) -> Option:
    return Option(next(iter(moment.maker.universe.devices)), OptionOrigin.ASSUMED)


def _option(moment: Moment, option: str) -> Option | None:
    """The value given, or else the schema's default; None where that is None, too."""
    text: str | None = getattr(moment.options, option)
    if text is not None:
        return Option(_plain(option, text), OptionOrigin.GIVEN)
    argument = option_argument(moment.schema, option)
    word = None if argument is None or argument.default is None else _of_default(moment, option, argument.default)
    return None if word is None else Option(word, OptionOrigin.SCHEMA)


def _plain(option: str, text: str) -> str:
    """The word that we use for it."""
    if option == "layout":
        return layout_named(text).value
    return dtype_named(text) if option == "dtype" else text


def _of_default(moment: Moment, option: str, default: str) -> str | None:
    """A default value of a schema, where layouts and dtypes are numbers."""
    if option == "device":
        return default if device_type(default) in moment.maker.universe.devices else None
    words = [layout.value for layout in LAYOUT_NUMBERS] if option == "layout" else DTYPES
    return next((word for number, word in enumerate(words) if str(number) == default), None)


def _is(kind: SchemaType, wanted: TypeKind) -> bool:
    return kind.kind is wanted or (kind.kind is TypeKind.OPTIONAL and _is(kind.contained[0], wanted))
