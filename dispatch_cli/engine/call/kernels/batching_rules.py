"""PyTorch's own batching rules: the kernels at FuncTorchBatched and FuncTorchVmapMode, told by their source file.

Sources: ``functorch/BatchRules*.cpp``, ``functorch/LegacyBatchingRegistrations.cpp``, torchgen's
``gen_vmap_plumbing.py``.
"""

from __future__ import annotations

from dispatch_cli.engine.call.errors import RUNTIME, failed_assert, refused
from dispatch_cli.engine.call.kernels import functorch
from dispatch_cli.engine.call.kernels.own_kernels import Does
from dispatch_cli.engine.call.schema_facts import arguments_of, returns_tensors_only
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, decomposes, ends, raises
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.model import printed_texts
from dispatch_cli.model.call import Absent, TensorSpec
from dispatch_cli.model.schema.arguments import is_tensor_list

_OLDER = "LegacyBatchingRegistrations"
_NONE = TensorSpec(absent=Absent.NONE)


def batching_rule(moment: Moment, own: Does) -> KernelStep:
    """The operator is called again with the tensors that the innermost transform wraps; some are made of others."""
    if own.how == "decomposes":
        return decomposes(Why.CORE_KERNEL)
    if own.how == "dynamic-shape":
        return raises(_dynamic_shape(moment), Why.CORE_KERNEL)
    kernel = moment.entry.kernel
    is_older = kernel is not None and _OLDER in kernel.debug
    if not moment.thread.layers:
        return raises(_escaped(is_older), Why.CORE_KERNEL)
    if own.how == "no-rule":
        text = f"Error: {moment.name} requires special handling, and does not yet have a batching rule. Feel free to "
        return raises(refused(ErrorKind.TRANSFORM, f"{text}file a github issue!"), Why.CORE_KERNEL)
    if own.how == "computes":
        return ends(Why.CORE_KERNEL)
    if own.how == "calls-others":
        return decomposes(Why.CORE_KERNEL)
    values = functorch.unwrapped_values(moment)
    if own.how == "without-weight":
        values = _without_weight(moment, values)
    # The older rules leave their key to the tensors of other levels, once they have unwrapped those of this one.
    keeps_key = is_older and own.how != "newer" and values != moment.values
    excluded = () if keeps_key else (moment.slot,)
    # They pass an undefined tensor on as None, but in a list as it is.
    values = tuple(
        moment.maker.make(_NONE) if value.is_undefined and not (of is not None and is_tensor_list(of.type)) else value
        for of, value in zip(arguments_of(moment.schema, len(values)), values, strict=True)
    )
    thread = moment.thread.exclude(moment.maker.known(*excluded))
    return calls_anew(thread, values, Why.CORE_KERNEL, unboxed=True)


def _without_weight(moment: Moment, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The tensors of a normalization with None for weight and bias, where the rule applies these itself."""
    arguments = arguments_of(moment.schema, len(values))
    weights = [at for at, item in enumerate(arguments) if item is not None and item.name in ("weight", "bias")]
    if str(moment.name) == "aten::native_layer_norm" and all(values[at] is moment.values[at] for at in weights):
        return values
    none = moment.maker.make(_NONE)
    return tuple(none if at in weights else value for at, value in enumerate(values))


def _escaped(is_older: bool) -> Error:
    """No transform is active, so that the tensor is of one that is over."""
    if is_older:
        return failed_assert(ErrorKind.TRANSFORM, "maybe_level.has_value()", f"{_OLDER}.cpp")
    text = (
        f"{printed_texts.ESCAPED} and this is a user error (see "
        "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in `"
    )
    return Error(ErrorKind.TRANSFORM, RUNTIME, text, whole=False)


def _dynamic_shape(moment: Moment) -> Error:
    if not returns_tensors_only(moment.schema):  # each has a text of its own
        return Error(ErrorKind.TRANSFORM, RUNTIME, "vmap", whole=False)
    text = (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{moment.name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )
    return refused(ErrorKind.TRANSFORM, text)
